package main

import (
	"fmt"
	"net/http"
	"time"
)

// How many connections the gate lets in, and how long each is held.
const (
	narrow, wide = 4, 64
	held         = 60 * time.Millisecond
)

// gate answers after a while and closes the connection. It lets in few connections at a time, or as many as come.
func gate(o options) (http.HandlerFunc, error) {
	o.limit(wide)
	if o.sick {
		o.limit(narrow)
	}
	rounds := roundsFor(o.work)
	return func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(held)
		w.Header().Set("Connection", "close")
		fmt.Fprintln(w, computePrice(r.URL.Path, rounds))
	}, nil
}
