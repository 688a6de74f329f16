//go:build linux

package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime/trace"
	"sync"
	"sync/atomic"
	"time"
)

// service is an HTTP server whose execution is traced: half of its requests ask
// a dependency over TCP on the serving goroutine. Its clients run in the same
// process, in closed loop over connections they keep.
type service struct {
	name   string
	pieces int // of 4 KiB, allocated for each request
}

const clients = 8

var garbage atomic.Pointer[[]byte]

// recordTrace writes an execution trace of about size bytes.
func (s service) recordTrace(w io.Writer, size int64) error {
	dependency, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer dependency.Close()
	go serveEcho(dependency)
	pool := make(chan net.Conn, clients)
	for range cap(pool) {
		c, err := net.Dial("tcp", dependency.Addr().String())
		if err != nil {
			return err
		}
		defer c.Close()
		pool <- c
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/plain", func(w http.ResponseWriter, _ *http.Request) { s.writeAnswer(w) })
	mux.HandleFunc("/dependency", func(w http.ResponseWriter, _ *http.Request) {
		c := <-pool
		defer func() { pool <- c }()
		one := []byte{1}
		if _, err := c.Write(one); err == nil {
			_, _ = io.ReadFull(c, one)
		}
		s.writeAnswer(w)
	})
	server := httptest.NewServer(mux)
	defer server.Close()

	counted := &counter{w: w}
	if err := trace.Start(counted); err != nil {
		return fmt.Errorf("cannot trace itself: %w", err)
	}
	var stop atomic.Bool
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			transport := &http.Transport{}
			defer transport.CloseIdleConnections()
			client := http.Client{Transport: transport}
			for !stop.Load() {
				for _, path := range []string{"/plain", "/dependency"} {
					r, err := client.Get(server.URL + path)
					if err != nil {
						return
					}
					_, _ = io.Copy(io.Discard, r.Body)
					r.Body.Close()
				}
			}
		})
	}
	for counted.n.Load() < size && !counted.failed.Load() {
		time.Sleep(20 * time.Millisecond)
	}
	stop.Store(true)
	all.Wait()
	trace.Stop()
	if counted.failed.Load() {
		return fmt.Errorf("the trace could not be written: is the disk full?")
	}
	return nil
}

func (s service) writeAnswer(w io.Writer) {
	for range s.pieces {
		b := make([]byte, 4<<10)
		garbage.Store(&b)
	}
	_, _ = io.WriteString(w, "hello\n")
}

func serveEcho(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			_, _ = io.Copy(c, c)
		}()
	}
}

type counter struct {
	w      io.Writer
	n      atomic.Int64
	failed atomic.Bool
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n.Add(int64(n))
	if err != nil {
		c.failed.Store(true)
	}
	return n, err
}
