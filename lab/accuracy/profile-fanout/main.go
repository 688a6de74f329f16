// Command profile-fanout puts a page of a social network together from three services that
// it asks at once (errgroup).
package main

import (
	"context"
	"encoding/json"
	"io"
	"log"
	"net/http"
	_ "net/http/pprof"
	"os"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

var client = &http.Client{Timeout: 3 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 50}}

func main() {
	http.Handle("GET /profile/{id}", http.TimeoutHandler(http.HandlerFunc(profile), 4*time.Second, "sorry"))
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), nil))
}

func profile(w http.ResponseWriter, r *http.Request) {
	var mu sync.Mutex
	page := map[string]json.RawMessage{}
	group, ctx := errgroup.WithContext(r.Context())
	for part, base := range map[string]string{"posts": os.Getenv("ADDR_POSTS"), "friends": os.Getenv("ADDR_FRIENDS"), "ads": os.Getenv("ADDR_ADS")} {
		group.Go(func() error {
			body, err := get(ctx, "http://"+base+"/"+part+"/"+r.PathValue("id"))
			mu.Lock()
			page[part] = body
			mu.Unlock()
			return err
		})
	}
	if err := group.Wait(); err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	json.NewEncoder(w).Encode(page)
}

func get(ctx context.Context, url string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, "GET", url, nil)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return io.ReadAll(response.Body)
}
