// Order-history shows what a customer bought (net/http), read from a store over Redis's
// protocol through a pool of connections that is far larger than it needs to be.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	_ "net/http/pprof"
	"os"
	"time"

	"github.com/redis/go-redis/v9"
)

type order struct {
	ID    string `json:"id"`
	Cents int    `json:"cents"`
}

func main() {
	store := redis.NewClient(&redis.Options{Addr: os.Getenv("ADDR_STORE"), PoolSize: 80, MinIdleConns: 16, Protocol: 2, DisableIdentity: true})
	http.HandleFunc("GET /orders/{customer}", func(w http.ResponseWriter, r *http.Request) {
		id := r.PathValue("customer")
		key := "orders:" + id
		kept, err := store.LRange(r.Context(), key, 0, 19).Result()
		if err != nil && !errors.Is(err, redis.Nil) {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		orders := make([]order, 0, len(kept))
		for i, k := range kept {
			orders = append(orders, order{k, 100 * i})
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(orders)
	})
	http.HandleFunc("POST /orders/{customer}", func(w http.ResponseWriter, r *http.Request) {
		key := "orders:" + r.PathValue("customer")
		pipe := store.Pipeline()
		pipe.LPush(r.Context(), key, fmt.Sprint(time.Now().UnixNano()))
		pipe.LTrim(r.Context(), key, 0, 99)
		if _, err := pipe.Exec(r.Context()); err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		w.WriteHeader(http.StatusCreated)
	})
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), nil))
}
