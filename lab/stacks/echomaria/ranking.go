package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"github.com/redis/go-redis/v9"
)

// ranking keeps in Redis which game has brought most. It is good for two seconds.
type ranking struct {
	rentals *rentals
	store   *redis.Client
}

const (
	rankingKey   = "games:ranking"
	rankingFresh = 2 * time.Second
)

// place returns the place of a game.
func (r *ranking) place(ctx context.Context, id int) (int, error) {
	text, err := r.store.Get(ctx, rankingKey).Bytes()
	if errors.Is(err, redis.Nil) { // nobody has it: it is made
		text, err = r.make(ctx)
	}
	if err != nil {
		return 0, err
	}
	var places []int
	if err := json.Unmarshal(text, &places); err != nil {
		return 0, err
	}
	for place, game := range places {
		if game == id%1000 {
			return place, nil
		}
	}
	return len(places), nil
}

func (r *ranking) make(ctx context.Context) ([]byte, error) {
	sums, err := r.rentals.games(ctx)
	if err != nil {
		return nil, err
	}
	places := make([]int, len(sums))
	for i, s := range sums {
		places[i] = s.ID
	}
	text, err := json.Marshal(places)
	if err != nil {
		return nil, err
	}
	return text, r.store.Set(ctx, rankingKey, text, r.lives()).Err()
}

// lives is how long Redis keeps the ranking. Nobody renews it ahead with the fault.
func (r *ranking) lives() time.Duration {
	if fault("ttl-at-once") {
		return rankingFresh
	}
	return 10 * rankingFresh
}

func (r *ranking) renew(ctx context.Context) error {
	_, err := r.make(ctx)
	return err
}

func (r *ranking) renewRegularly(ctx context.Context) {
	tick := time.NewTicker(rankingFresh)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := r.renew(ctx); err != nil {
				slog.Warn("ranking not renewed", "error", err)
			}
		}
	}
}
