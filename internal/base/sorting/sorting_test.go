package sorting

import (
	"cmp"
	"slices"
	"testing"
)

func TestShort(t *testing.T) {
	type row struct{ key, at int }
	s := []row{{2, 0}, {1, 1}, {2, 2}, {1, 3}}
	Short(s, func(a, b row) int { return cmp.Compare(a.key, b.key) })
	if want := []row{{1, 1}, {1, 3}, {2, 0}, {2, 2}}; !slices.Equal(s, want) {
		t.Errorf("%v, want %v", s, want)
	}
}
