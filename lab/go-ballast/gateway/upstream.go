package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// upstream is the source of the documents that an answer joins.
type upstream struct {
	addr   string
	client *http.Client
	memory [][]byte
}

var parts = []string{"profile", "streams", "recommendations"}

func newUpstream(addr string) *upstream {
	u := &upstream{addr: addr, client: &http.Client{
		Timeout:   5 * time.Second,
		Transport: &http.Transport{MaxIdleConnsPerHost: 256},
	}}
	for k := 0; k < 16; k++ {
		u.memory = append(u.memory, newDocument(k))
	}
	return u
}

// newDocument returns a list of a dozen streams as JSON, about 1.5 KB.
func newDocument(seed int) []byte {
	var items []map[string]any
	for i := 0; i < 12; i++ {
		items = append(items, map[string]any{"id": seed*100 + i, "title": fmt.Sprintf("stream %d", i), "viewers": i * 977, "tags": []string{"live", "en"}})
	}
	b, err := json.Marshal(map[string]any{"items": items, "cursor": fmt.Sprint(seed)})
	if err != nil {
		panic(err) // maps of strings and numbers always encode
	}
	return b
}

// fetch gets the three documents: from memory on the calling goroutine, or from
// the upstream service at the same time on three others.
func (u *upstream) fetch(path string, s *session) ([]any, error) {
	documents := make([]any, len(parts))
	if u.addr == "" {
		for i := range parts {
			if err := json.Unmarshal(u.memory[(len(path)+i*5+len(s.token))%len(u.memory)], &documents[i]); err != nil {
				return nil, err
			}
		}
		return documents, nil
	}
	errs := make([]error, len(parts))
	var all sync.WaitGroup
	for i, part := range parts {
		all.Add(1)
		go func(i int, part string) {
			defer all.Done()
			documents[i], errs[i] = u.getDocument(part + path)
		}(i, part)
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return documents, nil
}

func (u *upstream) getDocument(path string) (document any, err error) {
	answer, err := u.client.Get("http://" + u.addr + "/" + path)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	return document, json.Unmarshal(b, &document)
}
