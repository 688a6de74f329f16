// Command presence-watch tells who is in a chat room. For each visit it starts a watcher
// that looks after the visitor ten times a second, until somebody closes its channel.
package main

import (
	"fmt"
	"log"
	"net/http"
	_ "net/http/pprof"
	"os"
	"strings"
	"sync/atomic"
	"time"
)

type visitor struct {
	name string
	gone chan struct{}
	seen atomic.Int64
}

func main() {
	http.HandleFunc("GET /room/{room}", room)
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), nil))
}

func room(w http.ResponseWriter, r *http.Request) {
	v := &visitor{name: r.RemoteAddr, gone: make(chan struct{})}
	go v.watch()
	if os.Getenv("FAULT") == "0" {
		defer close(v.gone)
	}
	fmt.Fprintln(w, v.name, "is in", r.PathValue("room"))
}

func (v *visitor) watch() {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-v.gone:
			return
		case <-tick.C:
			v.seen.Store(int64(len(strings.Fields(strings.Repeat(v.name+" ", 400)))))
		}
	}
}
