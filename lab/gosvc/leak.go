package main

import (
	"fmt"
	"net/http"
	"time"
)

// patience is how long a request waits for the dependency before it answers with
// an old value.
const patience = 15 * time.Millisecond

// leak asks a dependency on another goroutine and gives up after a while.
func leak(o options) (http.HandlerFunc, error) {
	ask, err := newAsker(o)
	if err != nil {
		return nil, err
	}
	look := askWorkers(ask)
	if o.sick {
		look = askAndForget(ask)
	}
	return func(w http.ResponseWriter, r *http.Request) {
		giveUp := time.NewTimer(patience)
		defer giveUp.Stop()
		select {
		case value := <-look(r.URL.Path):
			fmt.Fprintf(w, "%s\n", value)
		case <-giveUp.C:
			fmt.Fprintln(w, "an old value")
		}
	}, nil
}

// askAndForget starts a goroutine for each question. Its channel has no buffer:
// after the caller has given up, the goroutine waits for ever.
func askAndForget(ask func(string) ([]byte, error)) func(string) <-chan []byte {
	return func(key string) <-chan []byte {
		answer := make(chan []byte)
		go func() {
			value, _ := ask(key)
			answer <- value
		}()
		return answer
	}
}

// askWorkers hands questions to 32 workers that live as long as the service. A
// late answer is left in its channel's buffer.
func askWorkers(ask func(string) ([]byte, error)) func(string) <-chan []byte {
	type question struct {
		key    string
		answer chan []byte
	}
	questions := make(chan question, 1024)
	for i := 0; i < 32; i++ {
		go func() {
			for q := range questions {
				value, _ := ask(q.key)
				q.answer <- value
			}
		}()
	}
	return func(key string) <-chan []byte {
		q := question{key, make(chan []byte, 1)}
		questions <- q
		return q.answer
	}
}
