package main

import (
	"fmt"
	"net/http"
)

// values is how many values a request needs.
const values = 40

// chatty asks a dependency for each value of a request, or once for all of them.
func chatty(o options) (http.HandlerFunc, error) {
	ask, err := newAsker(o)
	if err != nil {
		return nil, err
	}
	times := 1
	if o.sick {
		times = values
	}
	rounds := roundsFor(o.work)
	return func(w http.ResponseWriter, r *http.Request) {
		for n := range times {
			if _, err := ask(fmt.Sprintf("%s/%d", r.URL.Path, n)); err != nil {
				http.Error(w, err.Error(), http.StatusBadGateway)
				return
			}
		}
		fmt.Fprintln(w, computePrice(r.URL.Path, rounds))
	}, nil
}
