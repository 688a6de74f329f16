package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"math/rand"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

var asked atomic.Int64

// computeTenth answers at once, except that one request in ten computes for long.
func computeTenth(http.ResponseWriter, *http.Request) error {
	least := 200 * time.Microsecond
	if asked.Add(1)%10 == 0 {
		least = 40 * time.Millisecond
	}
	sum := sha256.Sum256(nil)
	for end := time.Now().Add(least); time.Now().Before(end); {
		for i := 0; i < 100; i++ {
			sum = sha256.Sum256(sum[:])
		}
	}
	return nil
}

// newJournal returns a handler that writes each request to a file and waits until it is on the
// disk, one request after the other, as a journal does.
func newJournal(dir string) (func(http.ResponseWriter, *http.Request) error, error) {
	f, err := os.OpenFile(dir+"journal", os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	var one sync.Mutex
	entry := bytes.Repeat([]byte("entry "), 700)
	return func(http.ResponseWriter, *http.Request) error {
		one.Lock()
		defer one.Unlock()
		for i := 0; i < 40; i++ {
			if _, err := f.Write(entry); err != nil {
				return err
			}
			if err := f.Sync(); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// newBroadcast returns a handler that sends each request to all listeners on this host, by
// broadcast: the kernel hands each packet to one after the other, on the way out of the call that
// sent it.
func newBroadcast() (func(http.ResponseWriter, *http.Request) error, error) {
	const listeners, packets = 144, 200
	to := &net.UDPAddr{IP: net.IPv4(127, 255, 255, 255)}
	shared := net.ListenConfig{Control: shareAddress}
	for i := 0; i < listeners; i++ {
		l, err := shared.ListenPacket(context.Background(), "udp4", to.String())
		if err != nil {
			return nil, err
		}
		to = l.LocalAddr().(*net.UDPAddr)
		go func() {
			for b := make([]byte, 64); ; {
				if _, _, err := l.ReadFrom(b); err != nil {
					return
				}
				time.Sleep(time.Second) // a slow listener: it drops what it misses
			}
		}()
	}
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, err
	}
	packet := make([]byte, 48)
	return func(http.ResponseWriter, *http.Request) error {
		for i := 0; i < packets; i++ {
			if _, err := c.WriteToUDP(packet, to); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// newFileLookup returns a handler that reads pages all over a file that is larger than its memory
// limit: for each page that it reads the kernel must evict another, which it soon reads
// again.
func newFileLookup(dir string, size int) (func(http.ResponseWriter, *http.Request) error, error) {
	f, err := os.OpenFile(dir+"archive", os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	b := make([]byte, 1<<20)
	for i := range b {
		b[i] = byte(i * 7)
	}
	for n := 0; n < size; n += len(b) {
		if _, err := f.Write(b); err != nil {
			return nil, err
		}
	}
	if err := f.Sync(); err != nil {
		return nil, err
	}
	if err := dropFileCache(f); err != nil {
		return nil, err
	}
	const looks, page = 300, 4 << 10
	return func(http.ResponseWriter, *http.Request) error {
		var b [1]byte
		for i := 0; i < looks; i++ {
			if _, err := f.ReadAt(b[:], int64(rand.Intn(size/page))*page); err != nil {
				return err
			}
		}
		return nil
	}, nil
}
