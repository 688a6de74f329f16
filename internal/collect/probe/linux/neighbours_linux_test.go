package linux

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"sync/atomic"
	"testing"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/collect/probe/probetest"
)

// toil listens at a port and computes until its standard input ends.
func toil(string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Addr())
	var done atomic.Bool
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		done.Store(true)
	}()
	for !done.Load() {
	}
}

// How long the threads of a neighbour at work were ready is recorded, with the address at which it listens.
func TestNeighbours(t *testing.T) {
	at := probetest.Play(t, "toil", nil, "x")
	s := start(t, oldLine)
	out := begin(t, s)
	threads, listens := fmt.Appendf(nil, "/proc/%d/task/", at.Process.Pid), fmt.Appendf(nil, "/proc/%d/fd/listen", at.Process.Pid)
	out.Wait(t, "procfs.txt", func(b []byte) bool {
		return bytes.Contains(b, listens) && bytes.Count(b, fmt.Appendf(nil, "%s%d/schedstat", threads, at.Process.Pid)) >= 3
	})
	if err := out.End(); err != nil {
		t.Fatal(err)
	}
	b := out.Read(t, "procfs.txt")
	if a, ok := metrics.AnswererAt(b, at.Said, metrics.Whole); !ok || a.Ran <= 0 {
		t.Errorf("at %s: %+v, %v", at.Said, a, ok)
	}
}
