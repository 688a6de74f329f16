// Command pipe ships logs: it makes the named pipe log.pipe, reads what a service prints
// into it and keeps the last lines for whoever asks. With the fault log-pipe it reads
// nothing for -stall again and again, as a shipper does whose uplink does not take more.
package main

import (
	"errors"
	"flag"
	"io"
	"io/fs"
	"log"
	"net/http"
	"os"
	"sync"
	"syscall"
	"time"
)

func main() {
	stall := flag.Duration("stall", time.Second, "how long it reads nothing, with the fault")
	every := flag.Duration("every", 3*time.Second, "time between the beginnings of two of these")
	flag.Parse()
	const name = "log.pipe"
	if err := syscall.Mkfifo(name, 0o600); err != nil && !errors.Is(err, fs.ErrExist) {
		log.Fatal(err)
	}
	// Open for writing too, so that it has no end when the service ends.
	in, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		log.Fatal(err)
	}
	var mu sync.Mutex
	var last []byte
	go func() {
		buffer := make([]byte, 4096)
		for began := time.Now(); ; {
			n, err := in.Read(buffer)
			if err != nil && !errors.Is(err, io.EOF) {
				log.Fatal(err)
			}
			mu.Lock()
			last = append(last[:0], buffer[:n]...)
			mu.Unlock()
			if into := time.Since(began) % *every; os.Getenv("FAULT") == "log-pipe" && into < *stall {
				time.Sleep(*stall - into)
			}
		}
	}()
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		w.Write(last)
	})))
}
