// Package urlpath finds the parts of paths that differ from request to request: names of people and things, which no rule tells from the
// names of resources by their letters.
//
// The package's opinion: what has many values of which each comes rarely is a parameter.
package urlpath

import (
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/redact"
)

// A part of a path is a parameter if its value comes less than rarely at its place, and manyRoutes differ in such parts alone: fewer
// requests have no usual latency of their own.
const (
	manyRoutes = 20
	rarely     = 20
)

// Group says for routes ("GET /login/ada", with or without the method), given how often each came, by which route they go, with parameters
// replaced; a route that stays as it is has no entry.
func Group(routes map[string]int) map[string]string {
	if len(routes) < manyRoutes {
		return nil
	}
	count := make(map[string]int) // of a value, by its place in paths of a method and a length
	for route, n := range routes {
		eachPart(route, func(_ int, place, _ string) { count[place] += n })
	}
	pattern := make(map[string]string, len(routes))
	alike := make(map[string]int)
	for route := range routes {
		var b strings.Builder
		eachPart(route, func(i int, place, part string) {
			if i > 0 {
				b.WriteByte('/')
			}
			if i > 0 && part != "" && count[place] < rarely {
				part = redact.ID
			}
			b.WriteString(part)
		})
		pattern[route] = b.String()
		alike[b.String()]++
	}
	out := make(map[string]string)
	for route, to := range pattern {
		if alike[to] >= manyRoutes && to != route {
			out[route] = to
		}
	}
	return out
}

// eachPart yields the parts of a route between slashes, each with its place. What stands before the first slash is a method, and no parameter.
func eachPart(route string, yield func(i int, place, part string)) {
	parts := strings.Split(route, "/")
	for i, part := range parts {
		yield(i, parts[0]+strconv.Itoa(len(parts))+"/"+strconv.Itoa(i)+"/"+part, part)
	}
}
