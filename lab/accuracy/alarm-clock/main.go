// Alarm-clock keeps reminders (httprouter): each is a goroutine that sleeps until its time
// has come or it is called off, and ten thousand of them are normal.
package main

import (
	"encoding/json"
	"log"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/julienschmidt/httprouter"
)

type reminder struct {
	ID  int           `json:"id"`
	Due time.Time     `json:"due"`
	off chan struct{} // closed when it is called off
}

type clock struct {
	mu   sync.Mutex
	kept map[int]*reminder
	next int
}

func (c *clock) set(in time.Duration) *reminder {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next++
	r := &reminder{c.next, time.Now().Add(in), make(chan struct{})}
	c.kept[r.ID] = r
	go c.wait(r)
	return r
}

func (c *clock) wait(r *reminder) {
	t := time.NewTimer(time.Until(r.Due))
	defer t.Stop()
	select {
	case <-t.C:
	case <-r.off:
	}
	c.mu.Lock()
	delete(c.kept, r.ID)
	c.mu.Unlock()
}

func main() {
	c := &clock{kept: map[int]*reminder{}}
	for i := range 10_000 {
		c.set(time.Hour + time.Duration(i)*time.Second)
	}
	debug, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go http.Serve(debug, nil)

	r := httprouter.New()
	r.GET("/reminders/:id", func(w http.ResponseWriter, _ *http.Request, p httprouter.Params) {
		id, _ := strconv.Atoi(p.ByName("id"))
		c.mu.Lock()
		found := c.kept[id]
		c.mu.Unlock()
		if found == nil {
			http.Error(w, "no such reminder", http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(found)
	})
	r.POST("/reminders", func(w http.ResponseWriter, _ *http.Request, _ httprouter.Params) {
		w.WriteHeader(http.StatusCreated)
		json.NewEncoder(w).Encode(c.set(10 * time.Second)) // most are short: an egg
	})
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), r))
}
