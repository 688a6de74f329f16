package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/collect/discover"
)

// recordQueue records targets into a directory for clients that cannot type a command: a browser, an assistant. It runs one
// recording at a time.
type recordQueue struct {
	dir string
	one sync.Mutex
}

// recordTarget records a target and returns the name of the capture and the messages that a
// terminal would have shown.
func (d *recordQueue) recordTarget(ctx context.Context, target string, how time.Duration, passive bool) (name, said string, err error) {
	if !d.one.TryLock() {
		return "", "", errors.New("another recording is running: wait until it has ended")
	}
	defer d.one.Unlock()
	var told notes
	s := &session{in: strings.NewReader(""), out: io.Discard, err: &told}
	r := recording{For: how, Passive: passive, dir: d.dir}
	if err := r.checkFlags(); err != nil {
		return "", "", err
	}
	t, err := discover.Resolve(ctx, target, platform.Recognisers())
	if err != nil {
		return "", "", err
	}
	path := s.recordUntil(ctx, r, []discover.Target{t}, nil, nil)
	if path == "" {
		return "", "", fmt.Errorf("nothing was recorded: %s", strings.TrimSpace(told.String()))
	}
	return filepath.Base(path), strings.TrimSpace(told.String()), nil
}

// notes collects messages that several goroutines write at the same time.
type notes struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (n *notes) Write(b []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text.Write(b)
}

func (n *notes) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text.String()
}

// listAllProcesses lists the processes on this host, including services of unknown runtimes.
func listAllProcesses(ctx context.Context) ([]discover.Found, error) {
	return discover.DiscoverAll(ctx, platform.Recognisers())
}

// listProcesses lists the processes on this host with a known runtime.
func listProcesses(ctx context.Context) ([]discover.Found, error) {
	return discover.Discover(ctx, platform.Recognisers())
}
