// Command sail-lofts reserves sails at a depot.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"time"
)

// buyer calls the depot. It gives up a call after patience, and tries as often as attempts says.
type buyer struct {
	depot    string
	patience time.Duration
	attempts int
}

func (b *buyer) reserve(ctx context.Context, sail string) (note string, err error) {
	for range b.attempts {
		note, err = b.callDepot(ctx, sail)
		if !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			return note, err // whatever the depot says is final
		}
	}
	return "", fmt.Errorf("the depot did not answer %d times: %w", b.attempts, err)
}

func (b *buyer) callDepot(ctx context.Context, sail string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, b.patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+b.depot+"/sails/"+sail, nil)
	if err != nil {
		return "", err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	note, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("the depot says %s", answer.Status)
	}
	return string(note), err
}

func main() {
	b := &buyer{depot: os.Getenv("ADDR_DEPOT"), patience: 50 * time.Millisecond, attempts: 12}
	if os.Getenv("FAULT") == "0" {
		b.patience, b.attempts = time.Second, 1
	}
	http.HandleFunc("/reserve/{sail}", func(w http.ResponseWriter, r *http.Request) {
		note, err := b.reserve(r.Context(), r.PathValue("sail"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, note)
	})
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), nil))
}
