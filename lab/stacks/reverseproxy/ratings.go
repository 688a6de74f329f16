package main

import (
	"encoding/json"
	"net/http"
	"time"
)

// ratings asks an agency how risky a customer is. The contract allows 16 connections.
type ratings struct {
	base   string
	client *http.Client
}

func newRatings(address string) *ratings {
	return &ratings{
		base:   "http://" + address,
		client: &http.Client{Timeout: 6 * time.Second, Transport: &http.Transport{MaxConnsPerHost: 16, MaxIdleConnsPerHost: 16}},
	}
}

func (s *ratings) rating(w http.ResponseWriter, r *http.Request) {
	// A rating that has been asked for is paid for: it is fetched to its end even if the customer leaves.
	response, err := s.client.Get(s.base + "/ratings/" + r.PathValue("id"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	if !fault("body-left-open") {
		defer response.Body.Close()
	}
	if response.StatusCode != http.StatusOK {
		answer(w, map[string]any{"customer": r.PathValue("id"), "rating": nil})
		return
	}
	defer response.Body.Close()
	var found struct{ Cents int }
	if err := json.NewDecoder(response.Body).Decode(&found); err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	answer(w, map[string]any{"customer": r.PathValue("id"), "rating": found.Cents / 100})
}
