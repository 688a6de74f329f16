// Command depot hands out sails. Three workers take 20 ms for each order, in the order of their arrival. Every
// four seconds they count the shelves for 60 ms; a while later the foreman throws away the slips that wait.
package main

import (
	"fmt"
	"log"
	"net/http"
	"os"
	"sync"
	"time"
)

type slip struct {
	sail string
	done chan string // has room for the note, should nobody wait for it any more
}

type counter struct {
	mu     sync.Mutex
	come   sync.Cond
	slips  []slip
	closed bool // while the shelves are counted
}

func newCounter() *counter {
	c := &counter{}
	c.come.L = &c.mu
	return c
}

func (c *counter) put(s slip) {
	c.mu.Lock()
	c.slips = append(c.slips, s)
	c.mu.Unlock()
	c.come.Signal()
}

func (c *counter) take() slip {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.slips) == 0 || c.closed {
		c.come.Wait()
	}
	s := c.slips[0]
	c.slips = c.slips[1:]
	return s
}

func (c *counter) setClosed(closed bool) {
	c.mu.Lock()
	c.closed = closed
	c.mu.Unlock()
	c.come.Broadcast()
}

func (c *counter) throwAway() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.slips {
		close(s.done)
	}
	c.slips = nil
}

func (c *counter) work() {
	for {
		s := c.take()
		time.Sleep(20 * time.Millisecond)
		s.done <- "sail " + s.sail + " is yours"
	}
}

func (c *counter) keepHours() {
	for range time.Tick(4 * time.Second) {
		c.setClosed(true)
		time.Sleep(60 * time.Millisecond)
		c.setClosed(false)
		time.Sleep(2300 * time.Millisecond)
		c.throwAway()
	}
}

func main() {
	c := newCounter()
	for range 3 {
		go c.work()
	}
	go c.keepHours()
	http.HandleFunc("/sails/{sail}", func(w http.ResponseWriter, r *http.Request) {
		s := slip{sail: r.PathValue("sail"), done: make(chan string, 1)}
		c.put(s)
		note, ok := <-s.done
		if !ok {
			http.Error(w, "the slip is gone", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprint(w, note)
	})
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), nil))
}
