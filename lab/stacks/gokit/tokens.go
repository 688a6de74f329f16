package main

import (
	"context"
	"encoding/json"
	"log"
	"net/http"
	"sync"
	"time"
)

// valid is how long a token may be used.
const valid = 1500 * time.Millisecond

// tokenSource has the token for the register, and gets a new one from the login service.
type tokenSource struct {
	login string

	mu     sync.Mutex
	token  string
	expiry time.Time
}

// start gets the first token, and keeps it fresh, so that requests find a valid one.
func (s *tokenSource) start(ctx context.Context) error {
	if err := s.refresh(ctx); err != nil || fault("token-lock") {
		return err
	}
	go func() {
		tick := time.NewTicker(valid / 3)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
			if err := s.refresh(ctx); err != nil {
				log.Print(err)
			}
		}
	}()
	return nil
}

// refresh asks for a token without holding the lock.
func (s *tokenSource) refresh(ctx context.Context) error {
	token, err := s.ask(ctx)
	if err == nil {
		s.mu.Lock()
		s.token, s.expiry = token, time.Now().Add(valid)
		s.mu.Unlock()
	}
	return err
}

// get returns a valid token. If it has expired, one is asked for, and the lock is held meanwhile.
func (s *tokenSource) get(ctx context.Context) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Now().Before(s.expiry) {
		return s.token, nil
	}
	token, err := s.ask(ctx)
	if err == nil {
		s.token, s.expiry = token, time.Now().Add(valid)
	}
	return token, err
}

func (s *tokenSource) ask(ctx context.Context) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.login, nil)
	if err != nil {
		return "", err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	var issued struct{ Receipt string }
	err = json.NewDecoder(answer.Body).Decode(&issued)
	return issued.Receipt, err
}
