// Command cheese-caves keeps the wheels of cheese of three caves in Redis (go-redis). A wheel
// that is moved is weighed first. A lock in Redis keeps two from moving in one cave. FAULT=0
// does without it: HINCRBY is atomic anyway.
package main

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"time"

	"github.com/redis/go-redis/v9"
)

// Caves moves cheese.
type Caves struct {
	store  *redis.Client
	scales chan *bufio.ReadWriter
	locks  bool
}

func main() {
	c := &Caves{
		store:  redis.NewClient(&redis.Options{Addr: os.Getenv("ADDR_STORE"), PoolSize: 80, MinIdleConns: 20}),
		scales: make(chan *bufio.ReadWriter, 40),
		locks:  os.Getenv("FAULT") != "0",
	}
	for range cap(c.scales) {
		conn, err := net.Dial("tcp", os.Getenv("ADDR_SCALES"))
		if err != nil {
			log.Fatal(err)
		}
		c.scales <- bufio.NewReadWriter(bufio.NewReader(conn), bufio.NewWriter(conn))
	}
	for cave := range 3 {
		for wheel := range 70 {
			if err := c.store.HSet(context.Background(), fmt.Sprint("cave:", cave), fmt.Sprint("wheel-", wheel), wheel%9).Err(); err != nil {
				log.Fatal(err)
			}
		}
	}
	http.HandleFunc("GET /cave/{cave}", c.showCave)
	http.HandleFunc("POST /move/{cave}/{wheel}", c.moveWheel)
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), nil))
}

func (c *Caves) showCave(w http.ResponseWriter, r *http.Request) {
	n, err := c.store.HLen(r.Context(), "cave:"+r.PathValue("cave")).Result()
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	fmt.Fprintln(w, n, "wheels")
}

func (c *Caves) moveWheel(w http.ResponseWriter, r *http.Request) {
	ctx, cave, wheel := r.Context(), r.PathValue("cave"), "wheel-"+r.PathValue("wheel")
	if c.locks {
		if err := c.lockCave(ctx, cave); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		defer c.store.Del(context.WithoutCancel(ctx), "lock:"+cave)
	}
	if err := c.weigh(wheel); err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	shelf, err := c.store.HIncrBy(ctx, "cave:"+cave, wheel, 1).Result()
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	fmt.Fprintln(w, wheel, "is on shelf", shelf)
}

// lockCave takes the lock of a cave; it tries until it has it.
func (c *Caves) lockCave(ctx context.Context, cave string) error {
	me := rand.Int64()
	for {
		ok, err := c.store.SetNX(ctx, "lock:"+cave, me, 10*time.Second).Result()
		if ok || err != nil {
			return err
		}
		time.Sleep(25 * time.Millisecond)
	}
}

// weigh asks the scales for the weight of a wheel.
func (c *Caves) weigh(wheel string) error {
	s := <-c.scales
	defer func() { c.scales <- s }()
	fmt.Fprintln(s, "WEIGH", wheel)
	if err := s.Flush(); err != nil {
		return err
	}
	_, err := s.ReadString('\n')
	return err
}
