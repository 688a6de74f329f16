// Command audit counts carts that were left behind, every two seconds, on a host of its own.
package main

import (
	"context"
	"log"
	"net"
	"os"
	"time"

	"github.com/redis/go-redis/v9"
)

func main() {
	if os.Getenv("FAULT") == "0" {
		time.Sleep(24 * time.Hour)
	}
	from := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 61)}}
	store := redis.NewClient(&redis.Options{Addr: os.Getenv("ADDR_STORE"), Dialer: func(ctx context.Context, network, address string) (net.Conn, error) {
		return from.DialContext(ctx, network, address)
	}})
	for range time.Tick(2 * time.Second) {
		keys, err := store.Keys(context.Background(), "cart:guest-*7").Result()
		if err != nil {
			log.Print(err)
			continue
		}
		log.Print(len(keys), " carts were left behind")
	}
}
