// Command ski-lifts says which slopes are open. Each of the sectors is asked, some of
// them at a time.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	_ "net/http/pprof"
	"os"

	"golang.org/x/sync/errgroup"
)

var client = http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 200}}

func main() {
	http.HandleFunc("GET /slopes/{side}", slopes)
	http.HandleFunc("GET /snow", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "62 cm\n") })
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), nil))
}

func slopes(w http.ResponseWriter, r *http.Request) {
	group, ctx := errgroup.WithContext(r.Context())
	group.SetLimit(2)
	if os.Getenv("FAULT") == "0" {
		group.SetLimit(24)
	}
	open := make([]int, 24)
	for n := range open {
		group.Go(func() error {
			request, err := http.NewRequestWithContext(ctx, "GET", fmt.Sprintf("http://%s/sector/%s/%d", os.Getenv("ADDR_SECTORS"), r.PathValue("side"), n), nil)
			if err != nil {
				return err
			}
			response, err := client.Do(request)
			if err != nil {
				return err
			}
			defer response.Body.Close()
			var sector struct{ Score int }
			err = json.NewDecoder(response.Body).Decode(&sector)
			open[n] = sector.Score % 5
			return err
		})
	}
	if err := group.Wait(); err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	json.NewEncoder(w).Encode(open)
}
