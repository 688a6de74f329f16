package main

import (
	"context"
	"sync"
	"time"
)

// oven bakes, and tells cafés that wait when bread comes out, each five seconds.
type oven struct {
	mu    sync.Mutex
	batch int
	calls []chan call
}

type call struct {
	Batch int `json:"batch"`
}

func (o *oven) bake(ctx context.Context) {
	tick := time.NewTicker(5 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			o.callAll()
		}
	}
}

func (o *oven) callAll() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.batch++
	for _, c := range o.calls {
		c <- call{Batch: o.batch}
	}
	o.calls = nil
}

// wait returns when the next bread comes out.
func (o *oven) wait(ctx context.Context, _ int) (call, error) {
	c := make(chan call, 1)
	o.mu.Lock()
	o.calls = append(o.calls, c)
	o.mu.Unlock()
	select {
	case found := <-c:
		return found, nil
	case <-ctx.Done():
		return call{}, ctx.Err()
	}
}
