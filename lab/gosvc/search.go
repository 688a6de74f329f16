package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
)

// search compares an item with all others. Items whose number ends in 7 take 40 times
// the work of any other. The healthy twin caches its results.
func search(o options) (http.HandlerFunc, error) {
	rounds := roundsFor(o.work)
	var found sync.Map
	return func(w http.ResponseWriter, r *http.Request) {
		if known, ok := found.Load(r.URL.Path); ok {
			fmt.Fprintln(w, known)
			return
		}
		nearest := findNearest(r.URL.Path, rounds)
		if !o.sick {
			found.Store(r.URL.Path, nearest)
		}
		fmt.Fprintln(w, nearest)
	}, nil
}

//go:noinline
func findNearest(path string, rounds int) (nearest uint64) {
	others := 1
	if strings.HasSuffix(path, "7") {
		others = 40
	}
	for range others {
		nearest ^= computePrice(path, rounds)
	}
	return nearest
}
