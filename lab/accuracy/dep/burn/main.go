// Command burn is a neighbour on the host: -threads threads compute for -busy, then rest
// for -idle, again and again. With FAULT=0 they only rest.
package main

import (
	"flag"
	"os"
	"runtime"
	"time"
)

var (
	threads = flag.Int("threads", 8, "threads that compute")
	busy    = flag.Duration("busy", time.Second, "time they compute")
	idle    = flag.Duration("idle", time.Second, "time they rest")
)

func main() {
	flag.Parse()
	if os.Getenv("FAULT") == "0" {
		for {
			time.Sleep(time.Hour)
		}
	}
	runtime.GOMAXPROCS(*threads + 1)
	for {
		time.Sleep(*idle)
		done := make(chan uint64)
		until := time.Now().Add(*busy)
		for n := range *threads {
			go func() {
				x := uint64(n) + 1
				for time.Now().Before(until) {
					for range 20_000 {
						x ^= x << 13
						x ^= x >> 7
						x ^= x << 17
					}
				}
				done <- x
			}()
		}
		for range *threads {
			<-done
		}
	}
}
