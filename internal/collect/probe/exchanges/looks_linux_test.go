package exchanges

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe/probetest"
	"github.com/unstall/unstall/internal/collect/probe/tracepoint"
	"github.com/unstall/unstall/internal/format"
	reading "github.com/unstall/unstall/internal/format/exchanges"
	"github.com/unstall/unstall/internal/format/formattest"
)

// ledger is what requests of the locked service change under a lock.
type ledger struct{ mu sync.Mutex }

//go:noinline
func (l *ledger) enter() {
	l.mu.Lock()
	defer l.mu.Unlock()
	time.Sleep(30 * time.Millisecond) // what the lock is held over
}

// locked answers each request under one lock.
func locked([]string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Addr())
	of := new(ledger)
	panic(http.Serve(l, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { of.enter() })))
}

// joined answers each request when two goroutines have ended that it starts, one of which works under the lock.
const joined = `package main

import (
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

type ledger struct{ mu sync.Mutex }

//go:noinline
func (l *ledger) enter() {
	l.mu.Lock()
	defer l.mu.Unlock()
	time.Sleep(30 * time.Millisecond)
}

func main() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Addr())
	of := new(ledger)
	panic(http.Serve(l, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		var all sync.WaitGroup
		all.Add(2)
		go func() { defer all.Done(); of.enter() }()
		go func() { defer all.Done(); time.Sleep(5 * time.Millisecond) }()
		all.Wait()
	})))
}
`

// Requests of a Go program that wait for a lock, or for goroutines that wait for one, are said to, with the function that takes it and what its holder does.
func TestLooks(t *testing.T) {
	if err := tracepoint.Try(); err != nil {
		t.Skipf("it needs root or the capabilities BPF and PERFMON, and types of the kernel: %v", err)
	}
	if registers.call == "" {
		t.Skip("the registers of this machine are not known")
	}
	t.Run("locked", func(t *testing.T) { testLooks(t, probetest.Play(t, "locked", nil)) })
	t.Run("joined", func(t *testing.T) { testLooks(t, probetest.PlayBuilt(t, joined)) })
}

func testLooks(t *testing.T, child *probetest.Child) {
	found := findAccess(t.Context(), discover.Target{PID: child.Process.Pid})
	r := probetest.Begin(t, found[0])
	r.Wait(t, "exchanges.txt", func(b []byte) bool { return bytes.Contains(b, []byte("until")) })
	r.Wait(t, "exchanges.txt", func(b []byte) bool {
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				answer, err := http.Get("http://" + child.Said + "/entries")
				if err != nil {
					t.Error(err)
					return
				}
				answer.Body.Close()
			})
		}
		all.Wait()
		return bytes.Count(b, []byte("\ng ")) >= 100
	})
	if err := r.End(); err != nil {
		t.Fatal(err)
	}
	b := evidence.NewBundle()
	var text []byte
	for _, a := range r.Kept {
		text = a.Bytes()
		if err := format.Read(t.Context(), []format.Format{reading.Format}, formattest.Artifact(a.Meta.Name, text), b); err != nil {
			t.Fatal(err)
		}
	}
	var took, waited, held int64
	for i := range b.Requests.Len() {
		took += b.Requests.Latency(i)
		for s := range b.Requests.Path(i).All {
			if s.Kind == evidence.LockWait && strings.HasSuffix(b.Names.Text(s.Cause), ".(*ledger).enter") {
				waited += s.Dur
				if s.HolderKind == evidence.SleepWait {
					held += s.Dur
				}
			}
		}
	}
	if 2*waited < took || 2*held < waited { // of five one sleeps, and four wait for it
		t.Errorf("of %d ms %d waited for the lock, %d of it while the holder slept\n%s", took/1e6, waited/1e6, held/1e6, text)
	}
}
