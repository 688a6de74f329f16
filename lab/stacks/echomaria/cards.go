package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// cards is the company that charges cards, over HTTP.
type cards struct {
	url    string
	client *http.Client
}

func newCards(address string) *cards {
	transport := &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Minute}
	return &cards{url: "http://" + address, client: &http.Client{Transport: transport, Timeout: 15 * time.Second}}
}

func (c *cards) charge(ctx context.Context, id int) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, fmt.Sprintf("%s/charges/%d", c.url, id), http.NoBody)
	if err != nil {
		return "", err
	}
	response, err := c.client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	var found struct {
		Receipt string `json:"receipt"`
	}
	err = json.NewDecoder(response.Body).Decode(&found)
	return found.Receipt, err
}
