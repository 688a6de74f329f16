// Command jam-labels says what jams cost, which is in Redis, and prints labels for jars that have
// been filled. With FAULT=0 the printers have connections of their own.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	_ "net/http/pprof"
	"os"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	jams     = 300
	printers = 5
)

// shop sells jam.
type shop struct {
	store   *redis.Client
	printed atomic.Int64
}

func connect(size int) *redis.Client {
	return redis.NewClient(&redis.Options{Addr: os.Getenv("ADDR_STORE"), PoolSize: size, PoolTimeout: 10 * time.Second})
}

// printLabels prints what the kitchen asks for.
func (s *shop) printLabels(ctx context.Context, jobs *redis.Client) {
	for {
		job, err := jobs.BLPop(ctx, time.Second, "labels").Result()
		switch {
		case errors.Is(err, redis.Nil):
			continue
		case err != nil:
			log.Print(err)
			time.Sleep(time.Second)
			continue
		}
		if len(job) == 2 {
			s.printed.Add(1)
		}
	}
}

func (s *shop) showJam(w http.ResponseWriter, r *http.Request) {
	price, err := s.store.HGet(r.Context(), "jams", "jam-"+r.PathValue("number")).Result()
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	fmt.Fprintf(w, "%s pence, %d labels printed\n", price, s.printed.Load())
}

func main() {
	ctx := context.Background()
	s := &shop{store: connect(printers)}
	for n := range jams {
		if err := s.store.HSet(ctx, "jams", fmt.Sprint("jam-", n), 180+n*7%90).Err(); err != nil {
			log.Fatal(err)
		}
	}
	jobs := s.store
	if os.Getenv("FAULT") == "0" {
		jobs = connect(printers)
	}
	for range printers {
		go s.printLabels(ctx, jobs)
	}
	http.HandleFunc("GET /jam/{number}", s.showJam)
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), nil))
}
