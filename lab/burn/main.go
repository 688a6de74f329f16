// Burn is a neighbour: a program that uses CPU and does nothing else.
//
//	burn -threads 4 -for 300ms -every 1s
//
// It runs until standard input ends.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"
)

func main() {
	threads := flag.Int("threads", 1, "threads that burn")
	long := flag.Duration("for", time.Second, "how long they burn at a time")
	every := flag.Duration("every", time.Second, "how often they start; the rest they sleep")
	flag.Parse()
	runtime.GOMAXPROCS(*threads + 1)
	start := time.Now()
	for i := 0; i < *threads; i++ {
		go func() {
			runtime.LockOSThread()
			for {
				now := time.Since(start)
				if rest := *every - now%*every; now%*every >= *long {
					time.Sleep(rest)
				}
			}
		}()
	}
	fmt.Printf("{\"pid\":%d}\n", os.Getpid())
	io.Copy(io.Discard, os.Stdin)
}
