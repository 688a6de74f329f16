package main

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

// fees knows what the courier takes for a parcel, by a table of tariffs that is good for two seconds.
type fees struct {
	courier, tariffs *courier
	flights          singleflight.Group

	mu      sync.RWMutex
	base    int64
	fetched time.Time
}

const fresh = 2 * time.Second

func (f *fees) ofParcel(ctx context.Context, id int) (int64, error) {
	base, err := f.current(ctx)
	return base + int64(id%900), err
}

// current returns the tariff. With the fault nobody renews it ahead, and all who find it too old wait for one flight.
func (f *fees) current(ctx context.Context) (int64, error) {
	f.mu.RLock()
	base, fetched := f.base, f.fetched
	f.mu.RUnlock()
	if !fault("one-flight") || time.Since(fetched) < fresh {
		return base, nil
	}
	found, err, _ := f.flights.Do("tariff", func() (any, error) { return f.fetch(context.WithoutCancel(ctx)) })
	if err != nil {
		return 0, err
	}
	return found.(int64), nil
}

func (f *fees) fetch(ctx context.Context) (int64, error) {
	tariff, err := f.tariffs.arrival(ctx, 1)
	if err != nil {
		return 0, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.base, f.fetched = tariff.Cents, time.Now()
	return f.base, nil
}

func (f *fees) renewRegularly(ctx context.Context) {
	tick := time.NewTicker(fresh)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			_, _ = f.fetch(ctx) // the old one is good enough until the next
		}
	}
}
