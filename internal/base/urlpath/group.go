// Package urlpath finds the parts of paths that differ from request to request: names of people and things, which by their letters look
// like names of resources.
//
// The package's opinion: a part with many values, each of which is rare, is a parameter.
package urlpath

import (
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/redact"
)

// A part of a path is a parameter if its value is rarer than rarely at its place, and at least manyRoutes routes differ only in such parts:
// fewer requests than that have no usual latency of their own.
const (
	manyRoutes = 20
	rarely     = 20
)

// Group returns by route ("GET /login/ada", with or without the method) the route with its parameters replaced, given how often each came;
// an unchanged route has no entry.
func Group(routes map[string]int) map[string]string {
	if len(routes) < manyRoutes {
		return nil
	}
	count := make(map[string]int) // of a value, by its place in paths with the same method and length
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

// eachPart yields the parts of a route between slashes, each with its place. The part before the first slash is a method, not a parameter.
func eachPart(route string, yield func(i int, place, part string)) {
	parts := strings.Split(route, "/")
	for i, part := range parts {
		yield(i, parts[0]+strconv.Itoa(len(parts))+"/"+strconv.Itoa(i)+"/"+part, part)
	}
}
