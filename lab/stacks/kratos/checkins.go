package main

import (
	"crypto/sha256"
	"encoding/json"
	"sync"
	"time"
)

// checkins are the visits of members. Each is followed until a till has confirmed it.
type checkins struct {
	mu        sync.Mutex
	confirmed map[int]time.Time
}

type visit struct {
	Member int       `json:"member"`
	Since  time.Time `json:"since"`
	Shelf  []int     `json:"shelf"`
}

func newCheckins() *checkins { return &checkins{confirmed: make(map[int]time.Time)} }

// follow looks again and again where a member is, until a till confirms the visit. Tills
// confirm half of all visits, those of the others are over after 100 ms; with the fault they
// are not.
func (c *checkins) follow(member int) {
	if member%2 == 0 {
		time.AfterFunc(60*time.Millisecond, func() { c.confirm(member) })
	}
	go func() {
		began := time.Now()
		tick := time.NewTicker(25 * time.Millisecond)
		defer tick.Stop()
		for range tick.C {
			c.locate(visit{Member: member, Since: began})
			if c.isConfirmed(member) || time.Since(began) > 100*time.Millisecond && !fault("never-confirmed") {
				return
			}
		}
	}()
}

func (c *checkins) confirm(member int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.confirmed) > 10_000 {
		clear(c.confirmed)
	}
	c.confirmed[member] = time.Now()
}

func (c *checkins) isConfirmed(member int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.confirmed[member]
	return ok
}

// locate computes at which shelves a member may be by now.
func (c *checkins) locate(v visit) [sha256.Size]byte {
	for shelf := range 200 {
		if (v.Member*31+shelf*7)%11 < 4 {
			v.Shelf = append(v.Shelf, shelf)
		}
	}
	text, err := json.Marshal(v)
	if err != nil {
		return [sha256.Size]byte{}
	}
	sum := sha256.Sum256(text)
	for range 150 {
		sum = sha256.Sum256(sum[:])
	}
	return sum
}
