package main

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/panjf2000/ants/v2"
)

// messages are text messages to guests, which workers of a pool send.
type messages struct {
	workers *ants.Pool
	client  http.Client
	url     string
}

type receipt struct {
	Receipt string `json:"receipt"`
	Cents   int    `json:"cents"`
}

// newMessages has 64 workers, with the fault two, and whoever finds none free waits for one.
func newMessages(address string) (*messages, error) {
	size := 64
	if fault("two-workers") {
		size = 2
	}
	workers, err := ants.NewPool(size)
	m := &messages{workers: workers, url: "http://" + address + "/messages/"}
	m.client = http.Client{Timeout: 15 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	return m, err
}

// send has a worker send the message of a restaurant, and waits for the receipt.
func (m *messages) send(ctx context.Context, restaurant int) (sent receipt, err error) {
	done := make(chan error, 1)
	if err := m.workers.Submit(func() {
		var failed error
		sent, failed = m.call(ctx, restaurant)
		done <- failed
	}); err != nil {
		return sent, err
	}
	err = <-done
	return sent, err
}

func (m *messages) call(ctx context.Context, restaurant int) (sent receipt, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, m.url+strconv.Itoa(restaurant), nil)
	if err != nil {
		return sent, err
	}
	answer, err := m.client.Do(request)
	if err != nil {
		return sent, err
	}
	defer answer.Body.Close()
	return sent, json.NewDecoder(answer.Body).Decode(&sent)
}
