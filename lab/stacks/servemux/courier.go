package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// courier is another company, over HTTP.
type courier struct {
	url    string
	client *http.Client
}

type quote struct {
	Receipt string `json:"receipt"`
	Cents   int64  `json:"cents"`
}

func newCourier(address string) *courier {
	transport := &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Minute}
	return &courier{url: "http://" + address, client: &http.Client{Transport: transport, Timeout: 15 * time.Second}}
}

func (c *courier) arrival(ctx context.Context, id int) (found quote, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/arrivals/%d", c.url, id), nil)
	if err != nil {
		return found, err
	}
	response, err := c.client.Do(request)
	if err != nil {
		return found, err
	}
	defer response.Body.Close()
	return found, json.NewDecoder(response.Body).Decode(&found)
}

// gate is where vans come.
type gate struct{}

// wait answers when a van has come, or after five seconds.
func (*gate) wait(ctx context.Context, _ int) (bool, error) {
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case <-time.After(5 * time.Second):
		return false, nil
	}
}
