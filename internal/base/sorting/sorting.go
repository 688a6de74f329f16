// Package sorting sorts short slices.
//
// Its opinion: the compiler makes slices.SortFunc anew for each type of elements, which adds some 10 kB to the program each time. That pays for long
// slices alone. [Short] uses one sorter for all types.
package sorting

import "sort"

// Short sorts a short slice, and keeps the order of elements that are equal.
func Short[T any](s []T, compare func(a, b T) int) {
	sort.SliceStable(s, func(i, j int) bool { return compare(s[i], s[j]) < 0 })
}
