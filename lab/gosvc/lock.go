package main

import (
	"fmt"
	"hash/fnv"
	"net/http"
	"sync"
	"time"
)

// quotes is a table of computed prices behind a lock.
type quotes struct {
	mu    sync.Mutex
	price map[string]uint64
}

// quote computes and stores a price while it holds the lock.
func (q *quotes) quote(item string, rounds int) uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.price[item] = computePrice(item, rounds)
	return q.price[item]
}

// lock keeps the prices in a table: with one lock for all, or 64 for as many
// parts of it.
func lock(o options) (http.HandlerFunc, error) {
	parts := make([]quotes, 64)
	if o.sick {
		parts = parts[:1]
	}
	for i := range parts {
		parts[i].price = map[string]uint64{}
	}
	rounds := roundsFor(o.work)
	return func(w http.ResponseWriter, r *http.Request) {
		h := fnv.New32a()
		h.Write([]byte(r.URL.Path))
		part := &parts[int(h.Sum32())%len(parts)]
		fmt.Fprintf(w, "%d\n", part.quote(r.URL.Path, rounds))
	}, nil
}

// catalogue is read by every request and replaced as a whole at times.
type catalogue struct {
	mu    sync.RWMutex
	price map[string]uint64
}

// rebuildPrices computes a new table; held keeps the lock for the whole computation, else only for the exchange.
func (c *catalogue) rebuildPrices(rounds int, held bool) {
	if held {
		c.mu.Lock()
		defer c.mu.Unlock()
	}
	fresh := map[string]uint64{}
	for i := 0; i < 100; i++ {
		item := fmt.Sprintf("/item/%d", i)
		fresh[item] = computePrice(item, rounds/100)
	}
	if !held {
		c.mu.Lock()
		defer c.mu.Unlock()
	}
	c.price = fresh
}

// refresh rebuilds a catalogue every 150 ms, which takes as much work as 40
// requests.
func refresh(o options) (http.HandlerFunc, error) {
	c := &catalogue{}
	rounds := roundsFor(o.work)
	c.rebuildPrices(rounds, o.sick)
	go func() {
		for range time.Tick(150 * time.Millisecond) {
			c.rebuildPrices(40*rounds, o.sick)
		}
	}()
	return func(w http.ResponseWriter, r *http.Request) {
		c.mu.RLock()
		known := c.price[r.URL.Path]
		c.mu.RUnlock()
		fmt.Fprintf(w, "%d\n", known+computePrice(r.URL.Path, rounds))
	}, nil
}
