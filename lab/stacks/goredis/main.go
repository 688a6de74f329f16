// Command goredis keeps the carts and the jobs of the shop in Redis, with go-redis.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

type carts struct {
	db      *redis.Client
	waiting *redis.Client // for commands that wait: a connection each
}

func fault(name string) bool { return os.Getenv("FAULT") == name }

func main() {
	c := &carts{db: redis.NewClient(&redis.Options{Addr: os.Getenv("ADDR_REDIS"), PoolSize: 6, PoolTimeout: 10 * time.Second, ReadTimeout: 10 * time.Second})}
	c.waiting = redis.NewClient(&redis.Options{Addr: os.Getenv("ADDR_REDIS"), PoolSize: 100, ReadTimeout: 10 * time.Second})
	if fault("pool-of-waiters") {
		c.waiting = c.db
	}
	if err := c.fill(context.Background()); err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("GET /carts/{id}", c.cart)
	http.HandleFunc("GET /sessions/{prefix}", c.sessions)
	http.HandleFunc("GET /jobs", c.job)
	http.HandleFunc("GET /catalogue", c.catalogue)
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), nil))
}

// fill writes 200,000 sessions, 5,000 carts and the catalogue as a page of 2 KB and as a whole of 20 MB.
func (c *carts) fill(ctx context.Context) error {
	const each = 5000
	for from := 0; from < 200_000; from += each {
		p := c.db.Pipeline()
		for i := from; i < from+each; i++ {
			p.Set(ctx, fmt.Sprintf("session:%d", i), "customer", 0)
			if i < 5000 {
				p.Set(ctx, fmt.Sprintf("cart:%d", i), `{"items":[1,2,3]}`, 0)
				p.SAdd(ctx, fmt.Sprintf("sessions-of:%d", i%100), i)
			}
		}
		if _, err := p.Exec(ctx); err != nil {
			return err
		}
	}
	if err := c.db.Set(ctx, "catalogue:page", strings.Repeat("a product and its price; ", 80), 0).Err(); err != nil {
		return err
	}
	return c.db.Set(ctx, "catalogue:whole", strings.Repeat("a product and its price; ", 800_000), 0).Err()
}

func answer(w http.ResponseWriter, v any, err error) {
	if err != nil && !errors.Is(err, redis.Nil) {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if err := json.NewEncoder(w).Encode(v); err != nil {
		log.Print(err)
	}
}

func (c *carts) cart(w http.ResponseWriter, r *http.Request) {
	cart, err := c.db.Get(r.Context(), "cart:"+r.PathValue("id")).Result()
	answer(w, cart, err)
}

// sessions are those of a group. With the fault they are looked for among all keys.
func (c *carts) sessions(w http.ResponseWriter, r *http.Request) {
	if fault("keys-command") {
		keys, err := c.db.Keys(r.Context(), "session:*"+r.PathValue("prefix")+"77").Result()
		answer(w, len(keys), err)
		return
	}
	n, err := c.db.SCard(r.Context(), "sessions-of:"+r.PathValue("prefix")).Result()
	answer(w, n, err)
}

// job waits for a job for a second.
func (c *carts) job(w http.ResponseWriter, r *http.Request) {
	job, err := c.waiting.BLPop(r.Context(), time.Second, "jobs").Result()
	answer(w, job, err)
}

func (c *carts) catalogue(w http.ResponseWriter, r *http.Request) {
	name := "catalogue:page"
	if fault("big-value") {
		name = "catalogue:whole"
	}
	text, err := c.db.Get(r.Context(), name).Result()
	answer(w, len(text), err)
}
