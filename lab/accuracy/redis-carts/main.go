// Command redis-carts keeps carts of a shop in Redis (chi, go-redis). With a cart it fetches
// what its articles cost.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	_ "net/http/pprof"
	"os"

	"github.com/go-chi/chi/v5"
	"github.com/redis/go-redis/v9"
)

func main() {
	store := redis.NewClient(&redis.Options{Addr: os.Getenv("ADDR_STORE"), PoolSize: 60, MinIdleConns: 20})
	if err := fill(context.Background(), store); err != nil {
		log.Fatal(err)
	}
	r := chi.NewRouter()
	r.Get("/cart/{user}", func(w http.ResponseWriter, r *http.Request) { show(w, r, store) })
	r.Post("/cart/{user}/{article}", func(w http.ResponseWriter, r *http.Request) {
		n, err := store.HIncrBy(r.Context(), "cart:"+chi.URLParam(r, "user"), chi.URLParam(r, "article"), 1).Result()
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		fmt.Fprintln(w, n)
	})
	r.Mount("/debug", http.DefaultServeMux)
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), r))
}

// fill writes articles, and carts that were left behind.
func fill(ctx context.Context, store *redis.Client) error {
	const articles, carts, each = 300, 300_000, 1000
	for first := 0; first < carts; first += each {
		pipe := store.Pipeline()
		for n := first; n < first+each; n++ {
			pipe.HSet(ctx, fmt.Sprint("cart:guest-", n), "lamp-1", 1, "desk-7", 2)
		}
		if _, err := pipe.Exec(ctx); err != nil {
			return err
		}
	}
	pipe := store.Pipeline()
	for n := range articles {
		pipe.Set(ctx, fmt.Sprint("price:article-", n), 100+n*7%900, 0)
	}
	_, err := pipe.Exec(ctx)
	return err
}

func show(w http.ResponseWriter, r *http.Request, store *redis.Client) {
	cart, err := store.HGetAll(r.Context(), "cart:"+chi.URLParam(r, "user")).Result()
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	keys := []string{"price:delivery"}
	for article := range cart {
		keys = append(keys, "price:"+article)
	}
	prices, err := store.MGet(r.Context(), keys...).Result()
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	if err := json.NewEncoder(w).Encode(map[string]any{"cart": cart, "prices": prices}); err != nil {
		log.Print(err)
	}
}
