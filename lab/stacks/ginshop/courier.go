package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"golang.org/x/time/rate"
)

// courier says when flowers arrive. Its contract allows 300 calls a second, and with the fault 20.
type courier struct {
	address string
	client  *http.Client
	limiter *rate.Limiter
}

type arrival struct {
	Order   int    `json:"order"`
	Receipt string `json:"receipt"`
}

func newCourier(address string) *courier {
	calls := rate.Limit(300)
	if fault("calls-limited") {
		calls = 20
	}
	return &courier{
		address: address,
		client:  &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 32}},
		limiter: rate.NewLimiter(calls, 2),
	}
}

func (c *courier) arrival(ctx context.Context, id int) (found arrival, err error) {
	if err := c.limiter.Wait(ctx); err != nil {
		return found, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://%s/arrivals/%d", c.address, id), nil)
	if err != nil {
		return found, err
	}
	response, err := c.client.Do(request)
	if err != nil {
		return found, err
	}
	defer response.Body.Close()
	found.Order = id
	return found, json.NewDecoder(response.Body).Decode(&found)
}
