package routes

import (
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/urlpath"
)

// Group gives requests whose paths differ only in the name of a person or a thing one route.
func Group(b *evidence.Bundle) {
	r := &b.Requests
	count := make(map[evidence.NameID]int)
	for i := range r.Len() {
		count[r.Route.At(i)]++
	}
	byName := make(map[string]int, len(count))
	for id, n := range count {
		if id != 0 {
			byName[b.Names.Text(id)] += n
		}
	}
	to := make(map[evidence.NameID]evidence.NameID)
	for from, route := range urlpath.Group(byName) {
		to[b.Names.Lookup(from)] = b.Names.ID(route)
	}
	if len(to) == 0 {
		return
	}
	for i := range r.Len() {
		if id, ok := to[r.Route.At(i)]; ok {
			r.Route.Set(i, id)
		}
	}
}
