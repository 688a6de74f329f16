// Package sorting sorts. The functions of slices are compiled anew for each type of element, which is
// 12 KB a time, and this program sorts a hundred types: here numbers of elements are sorted, by one
// compiled copy, and then the elements are put in their places. That is as fast, as no element is
// moved more than once, and what is equal keeps its order. It takes 4 bytes for each element.
package sorting

import "slices"

// By sorts by what compare says: negative if a comes before b. What is equal stays in its order.
func By[S ~[]E, E any](s S, compare func(a, b E) int) {
	if places, moved := sorted(len(s), func(i, j int32) int { return compare(s[i], s[j]) }); moved {
		put(s, places)
	}
}

// put puts elements in their places, which it uses up.
func put[S ~[]E, E any](s S, places []int32) {
	for i := range places { // along each cycle of places
		if places[i] < 0 {
			continue
		}
		first, at := s[i], int32(i)
		for {
			from := places[at]
			places[at] = -1
			if int(from) == i {
				break
			}
			s[at], at = s[from], from
		}
		s[at] = first
	}
}

// sorted is which element comes at each place, and whether any moves.
func sorted(n int, compare func(i, j int32) int) (places []int32, moved bool) {
	for i := 1; i < n && !moved; i++ {
		moved = compare(int32(i-1), int32(i)) > 0
	}
	if !moved {
		return nil, false
	}
	places = make([]int32, n)
	for i := range places {
		places[i] = int32(i)
	}
	slices.SortFunc(places, func(i, j int32) int {
		if c := compare(i, j); c != 0 {
			return c
		}
		return int(i - j)
	})
	return places, true
}
