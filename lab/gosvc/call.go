package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/unstall/unstall/lab/resp"
)

var errNoDependency = errors.New("needs -dependency host:port; see lab/dependency")

// newAsker returns a function that asks the dependency. Over http, connections have goroutines of
// their own and the serving one waits on a channel; over tcp, the serving goroutine waits on the
// network itself.
func newAsker(o options) (func(key string) ([]byte, error), error) {
	if o.dependency == "" {
		return nil, errNoDependency
	}
	switch o.via {
	case "tcp":
		client := &resp.Client{Addr: o.dependency}
		return client.Get, nil
	case "http":
		client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 256}}
		return func(key string) ([]byte, error) {
			answer, err := client.Get("http://" + o.dependency + key)
			if err != nil {
				return nil, err
			}
			defer answer.Body.Close()
			return io.ReadAll(answer.Body)
		}, nil
	}
	return nil, fmt.Errorf("-via %s: use http or tcp", o.via)
}

// call asks a dependency for each request. It has no fault of its own: only the
// dependency can make it slow.
func call(o options) (http.HandlerFunc, error) {
	ask, err := newAsker(o)
	if err != nil {
		return nil, err
	}
	rounds := roundsFor(o.work)
	return func(w http.ResponseWriter, r *http.Request) {
		value, err := ask(r.URL.Path)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		fmt.Fprintf(w, "%s %d\n", value, computePrice(r.URL.Path, rounds))
	}, nil
}
