// Command group-commit takes readings of meters (chi) and writes them in groups: each
// request waits until its group is written.
package main

import (
	"fmt"
	"log"
	"net/http"
	"net/http/pprof"
	"os"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"
)

type journal struct {
	mu      sync.Mutex
	written *sync.Cond
	open    []string
	group   int // the one that is open
	file    *os.File
}

func main() {
	file, err := os.CreateTemp("", "readings")
	if err != nil {
		log.Fatal(err)
	}
	os.Remove(file.Name())
	j := &journal{file: file, group: 1}
	j.written = sync.NewCond(&j.mu)
	go j.flushEvery(300 * time.Millisecond)
	r := chi.NewRouter()
	r.Post("/meter/{id}", j.read)
	r.Get("/health", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	r.HandleFunc("/debug/pprof/*", pprof.Index)
	r.HandleFunc("/debug/pprof/profile", pprof.Profile)
	r.HandleFunc("/debug/pprof/trace", pprof.Trace)
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), r))
}

func (j *journal) read(w http.ResponseWriter, r *http.Request) {
	j.commit(chi.URLParam(r, "id") + " " + time.Now().String() + "\n")
	fmt.Fprintln(w, "written")
}

func (j *journal) commit(line string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.open = append(j.open, line)
	if os.Getenv("FAULT") == "0" {
		j.flush()
		return
	}
	for mine := j.group; j.group == mine; {
		j.written.Wait()
	}
}

func (j *journal) flushEvery(d time.Duration) {
	for {
		time.Sleep(d)
		j.mu.Lock()
		j.flush()
		j.mu.Unlock()
		j.written.Broadcast()
	}
}

func (j *journal) flush() {
	for _, line := range j.open {
		j.file.WriteString(line)
	}
	j.open = j.open[:0]
	j.group++
}
