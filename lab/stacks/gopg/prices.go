package main

import (
	"context"
	"log"
	"net/http"
	"sync"
	"time"

	"github.com/go-pg/pg/v10"
)

// priceList has the prices of all seats, which are read from PostgreSQL again each half second.
type priceList struct {
	db     *pg.DB
	agency remote

	mu    sync.RWMutex
	cents []int
}

func (p *priceList) load() error {
	var cents []int
	if _, err := p.db.Query(&cents, "select price_cents from products order by id"); err != nil {
		return err
	}
	p.mu.Lock()
	p.cents = cents
	p.mu.Unlock()
	return nil
}

func (p *priceList) keepFresh(ctx context.Context) {
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if err := p.load(); err != nil {
			log.Print(err)
		}
	}
}

type price struct {
	Seat  int `json:"seat"`
	Cents int `json:"cents"`
}

// find tells the price of a seat.
func (p *priceList) find(_ *http.Request, id int) (any, error) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return price{Seat: id, Cents: p.cents[id%len(p.cents)]}, nil
}

// offer tells what the agency has to say of a seat, and its price.
func (p *priceList) offer(r *http.Request, id int) (any, error) {
	if fault("reader-over-call") {
		// Readers do not exclude each other, but those who come after the one who replaces the list wait for all before it.
		p.mu.RLock()
		defer p.mu.RUnlock()
		said, err := p.agency.ask(r.Context(), id)
		return price{Seat: id, Cents: p.cents[id%len(p.cents)] + said.Cents}, err
	}
	said, err := p.agency.ask(r.Context(), id)
	if err != nil {
		return nil, err
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	return price{Seat: id, Cents: p.cents[id%len(p.cents)] + said.Cents}, nil
}
