package main

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// backoff is how long a request waits before it retries a failed attempt.
const backoff = 80 * time.Millisecond

var errConflict = errors.New("another writer has changed it")

// retry stores items. The first attempt fails for items whose number ends in 0, 1 or 2. It
// retries at once, or after a pause.
func retry(o options) (http.HandlerFunc, error) {
	rounds := roundsFor(o.work)
	return func(w http.ResponseWriter, r *http.Request) {
		for attempt := 0; ; attempt++ {
			version, err := storeItem(r.URL.Path, rounds, attempt)
			if err == nil {
				fmt.Fprintln(w, version)
				return
			}
			if o.sick {
				sleepBackoff()
			}
		}
	}, nil
}

func storeItem(path string, rounds, attempt int) (uint64, error) {
	version := computePrice(path, rounds)
	if attempt == 0 && strings.ContainsAny(path[len(path)-1:], "012") {
		return 0, errConflict
	}
	return version, nil
}

//go:noinline
func sleepBackoff() { time.Sleep(backoff) }
