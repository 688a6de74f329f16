package gotrace

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
)

// slowly returns a call of a dependency that answers after d.
func slowly(t *testing.T, d time.Duration) (ask func() error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				for b := make([]byte, 1); ; {
					if _, err := io.ReadFull(c, b); err != nil {
						return
					}
					time.Sleep(d)
					if _, err := c.Write(b); err != nil {
						return
					}
				}
			}()
		}
	}()
	return func() error {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			return err
		}
		defer c.Close()
		if _, err := c.Write([]byte{1}); err != nil {
			return err
		}
		_, err = io.ReadFull(c, make([]byte, 1))
		return err
	}
}

// vault is a slot in front of a lock in front of a dependency.
type vault struct {
	slot chan bool
	mu   sync.Mutex
	ask  func() error
}

func (v *vault) viaSlot(w http.ResponseWriter, r *http.Request) {
	v.slot <- true
	defer func() { <-v.slot }()
	v.locked(w, r)
}

func (v *vault) locked(w http.ResponseWriter, _ *http.Request) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := v.ask(); err != nil {
		http.Error(w, err.Error(), 500)
	}
}

// waitsOf sums the states of all requests that a test is interested in.
func waitsOf(b *evidence.Bundle, like func(*evidence.Segment) bool) (d time.Duration) {
	for i := range b.Requests.Len() {
		for s := range b.Requests.Path(i).All {
			if like(&s) {
				d += time.Duration(s.Dur)
			}
		}
	}
	return d
}

// TestChain has requests wait for a slot whose holder waits for a lock whose holder
// waits for a dependency: the wait's root is the dependency, and the lock is on the way.
func TestChain(t *testing.T) {
	v := &vault{slot: make(chan bool, 1), ask: slowly(t, 3*time.Millisecond)}
	mux := http.NewServeMux()
	mux.HandleFunc("/slot", v.viaSlot)
	mux.HandleFunc("/lock", v.locked)
	s := httptest.NewServer(mux)
	defer s.Close()
	b := record(t, func() {
		var both sync.WaitGroup
		both.Go(func() { ask(t, s, 4, 25, "/slot", 0) })
		both.Go(func() { ask(t, s, 2, 40, "/lock", 0) })
		both.Wait()
	})
	slot := func(s *evidence.Segment) bool {
		return s.Kind == evidence.PoolWait && strings.HasSuffix(b.Names.Text(s.Cause), ".viaSlot")
	}
	all := waitsOf(b, slot)
	rooted := waitsOf(b, func(s *evidence.Segment) bool {
		at := b.Stacks.Frames(s.HolderStack)
		return slot(s) && s.HolderKind == evidence.NetWait && strings.Contains(b.Names.Text(s.HolderCause), "gotrace") && s.Holder != 0 && len(at) > 0
	})
	via := waitsOf(b, func(s *evidence.Segment) bool {
		return slot(s) && s.HolderKind == evidence.NetWait && strings.HasPrefix(b.Names.Text(s.Via), "mutex in ")
	})
	if all < 200*time.Millisecond || rooted < all/2 || via < all/4 {
		t.Errorf("waited %v for the slot, %v of it for the dependency, %v of it behind the lock", all, rooted, via)
	}
}

// TestHolderWithoutCPU has those who hold a slot wait for a CPU: whom they waited
// for is told of those who wait for the slot.
func TestHolderWithoutCPU(t *testing.T) {
	slot := make(chan bool, 1)
	burn := func(d time.Duration) {
		for end := time.Now().Add(d); time.Now().Before(end); {
		}
	}
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		slot <- true
		burn(30 * time.Millisecond) // a slice is 10 ms: after it the holder is put behind the others
		<-slot
	}))
	defer s.Close()
	b := record(t, func() {
		var busy sync.WaitGroup
		done := make(chan bool)
		for range 8 {
			busy.Go(func() {
				for {
					select {
					case <-done:
						return
					default:
						burn(time.Millisecond)
					}
				}
			})
		}
		ask(t, s, 4, 4, "/", 0)
		close(done)
		busy.Wait()
	})
	var ready, told, background int64
	waitsOf(b, func(s *evidence.Segment) bool {
		if s.Kind == evidence.PoolWait && s.HolderKind == evidence.Runnable {
			ready += s.Dur
			told += s.Held.Sum()
			background += s.Held[evidence.HeldByBackground]
		}
		return false
	})
	if ready == 0 || told < ready*9/10 || told > ready || background < ready/4 {
		t.Errorf("holders of the slot waited %d ns for a CPU, of %d it is told who had it, for %d background work", ready, told, background)
	}
}

func TestLinks(t *testing.T) {
	w := &world{b: evidence.NewBundle().Builder(0, "test")}
	name := w.b.Name
	var chain evidence.NameID
	for _, s := range []string{"a", "b", "a", "c", "d", "e", "f", "g", "h"} {
		chain = w.joinChain(name(s), chain)
	}
	if got := w.b.Text(chain); got != "f ← e ← d ← c ← b ← a" {
		t.Errorf("%q", got)
	}
	if w.joinChain(0, chain) != chain || w.joinChain(chain, 0) != chain {
		t.Error("a chain of nothing more is not itself")
	}
}
