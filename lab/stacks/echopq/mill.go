package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"time"
)

// mill says when flour is delivered. Which of its hosts answers is told by a name server call by call, so that no
// connection is kept.
type mill struct {
	base   string
	client *http.Client
}

type delivery struct {
	Flour   int    `json:"flour"`
	Receipt string `json:"receipt"`
}

func newMill(address, names string) (*mill, error) {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	dialer := &net.Dialer{
		Timeout: 5 * time.Second,
		Resolver: &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, network, names)
		}},
	}
	return &mill{
		base:   "http://deliveries.mill.example:" + port,
		client: &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true}},
	}, nil
}

func (m *mill) delivery(ctx context.Context, flour int) (found delivery, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/deliveries/%d", m.base, flour), nil)
	if err != nil {
		return found, err
	}
	response, err := m.client.Do(request)
	if err != nil {
		return found, err
	}
	defer response.Body.Close()
	err = json.NewDecoder(response.Body).Decode(&found)
	found.Flour = flour
	return found, err
}
