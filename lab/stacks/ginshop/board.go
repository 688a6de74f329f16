package main

import (
	"context"
	"sync"
	"time"
)

// board tells those who wait when the vans have left, each four seconds.
type board struct {
	mu   sync.Mutex
	tour int
	left chan struct{}
}

type news struct {
	Order int `json:"order"`
	Tour  int `json:"tour"`
}

func newBoard() *board { return &board{left: make(chan struct{})} }

func (b *board) announce(ctx context.Context) {
	tick := time.NewTicker(4 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			b.mu.Lock()
			b.tour++
			close(b.left)
			b.left = make(chan struct{})
			b.mu.Unlock()
		}
	}
}

// wait returns when the next vans have left.
func (b *board) wait(ctx context.Context, id int) (news, error) {
	b.mu.Lock()
	left := b.left
	b.mu.Unlock()
	select {
	case <-left:
	case <-ctx.Done():
		return news{}, ctx.Err()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return news{Order: id, Tour: b.tour}, nil
}
