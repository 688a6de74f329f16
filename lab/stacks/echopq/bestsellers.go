package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"github.com/redis/go-redis/v9"
)

// bestsellers are the breads that sell best, added up from all orders and kept in Redis. A goroutine adds them up
// again each two seconds; with the fault those do who do not find them in Redis, where they are kept for two seconds.
type bestsellers struct {
	orders *orders
	cache  *redis.Client
}

type seller struct {
	Bread  string `json:"bread"`
	Pieces int64  `json:"pieces"`
}

const (
	bestsellersKey = "bestsellers"
	bestsellersAge = 2 * time.Second
)

func (b *bestsellers) refreshRegularly(ctx context.Context) {
	tick := time.NewTicker(bestsellersAge)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := b.refresh(ctx); err != nil && ctx.Err() == nil {
				slog.Error("bestsellers", "error", err)
			}
		}
	}
}

// refresh adds them up and keeps them a minute longer than needed, in case that Redis or PostgreSQL is away for a while.
func (b *bestsellers) refresh(ctx context.Context) error {
	age := bestsellersAge + time.Minute
	if fault("when-asked-for") {
		age = bestsellersAge
	}
	found, err := b.addUp(ctx)
	if err != nil {
		return err
	}
	text, err := json.Marshal(found)
	if err != nil {
		return err
	}
	return b.cache.Set(ctx, bestsellersKey, text, age).Err()
}

// find returns the bestsellers with the number of the shop window that shows them.
func (b *bestsellers) find(ctx context.Context, window int) (found map[string]any, err error) {
	text, err := b.cache.Get(ctx, bestsellersKey).Bytes()
	if errors.Is(err, redis.Nil) {
		if err = b.refresh(ctx); err == nil {
			text, err = b.cache.Get(ctx, bestsellersKey).Bytes()
		}
	}
	if err != nil {
		return nil, err
	}
	return map[string]any{"window": window, "bestsellers": json.RawMessage(text)}, nil
}

func (b *bestsellers) addUp(ctx context.Context) (found []seller, err error) {
	rows, err := b.orders.db.QueryContext(ctx, "select p.name, sum(o.quantity)::bigint as pieces from orders o join products p on p.id = o.product_id where o.status <> 'returned' group by p.name order by pieces desc limit 20")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var one seller
		if err := rows.Scan(&one.Bread, &one.Pieces); err != nil {
			return nil, err
		}
		found = append(found, one)
	}
	return found, rows.Err()
}
