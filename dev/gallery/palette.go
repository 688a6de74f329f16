package main

import (
	"cmp"
	"image/color"
	"maps"
	"slices"
)

// mostFrequent returns the n most frequent colours, in a fixed order among equally frequent ones.
func mostFrequent(count map[color.RGBA]int, n int) color.Palette {
	colours := slices.SortedFunc(maps.Keys(count), func(a, b color.RGBA) int {
		return cmp.Or(count[b]-count[a], cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B), cmp.Compare(a.A, b.A))
	})
	var p color.Palette
	for _, c := range colours[:min(n, len(colours))] {
		p = append(p, c)
	}
	return p
}
