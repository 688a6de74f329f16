// Stock-levels is the door to a Redis that keeps how much of what there is.
package main

import (
	"errors"
	"log"
	"net/http"
	"os"
	"strconv"

	"github.com/redis/go-redis/v9"
)

func main() {
	levels := redis.NewClient(&redis.Options{Addr: os.Getenv("ADDR_SERVICE"), Protocol: 2, DisableIdentity: true})
	http.HandleFunc("GET /levels/{article}", func(w http.ResponseWriter, r *http.Request) {
		n, err := levels.HGet(r.Context(), "levels", r.PathValue("article")).Int()
		if err != nil && !errors.Is(err, redis.Nil) {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		w.Write(strconv.AppendInt(nil, int64(n), 10))
	})
	http.HandleFunc("POST /levels/{article}", func(w http.ResponseWriter, r *http.Request) {
		n, err := levels.HIncrBy(r.Context(), "levels", r.PathValue("article"), 1).Result()
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		w.Write(strconv.AppendInt(nil, n, 10))
	})
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), nil))
}
