// Command label-workers buys postage from a carrier. Two workers take jobs from a queue; a
// request puts its job there and waits for the answer.
package main

import (
	"context"
	"encoding/json"
	"log"
	"net/http"
	_ "net/http/pprof"
	"os"
	"time"
)

type job struct {
	ctx   context.Context
	path  string
	reply chan label
}

type label struct {
	Path  string `json:"path"`
	Score int    `json:"score"`
	err   error
}

func main() {
	workers := 2
	if os.Getenv("FAULT") == "0" {
		workers = 20
	}
	queue := make(chan *job, 1000)
	for range workers {
		go work(queue)
	}
	http.HandleFunc("GET /label/{parcel}", func(w http.ResponseWriter, r *http.Request) {
		j := &job{ctx: r.Context(), path: "/buy/" + r.PathValue("parcel"), reply: make(chan label, 1)}
		queue <- j
		select {
		case l := <-j.reply:
			if l.err != nil {
				http.Error(w, l.err.Error(), http.StatusBadGateway)
				return
			}
			json.NewEncoder(w).Encode(l)
		case <-r.Context().Done():
		}
	})
	server := &http.Server{Addr: os.Getenv("ADDR"), ReadTimeout: 10 * time.Second}
	log.Fatal(server.ListenAndServe())
}

func work(queue <-chan *job) {
	client := &http.Client{Timeout: 5 * time.Second}
	for j := range queue {
		j.reply <- buy(client, j)
	}
}

func buy(client *http.Client, j *job) (l label) {
	request, err := http.NewRequestWithContext(j.ctx, "GET", "http://"+os.Getenv("ADDR_CARRIER")+j.path, nil)
	if err != nil {
		return label{err: err}
	}
	response, err := client.Do(request)
	if err != nil {
		return label{err: err}
	}
	defer response.Body.Close()
	l.err = json.NewDecoder(response.Body).Decode(&l)
	return l
}
