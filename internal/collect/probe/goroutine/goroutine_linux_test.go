package goroutine

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe/probetest"
)

// leaking has 100 goroutines that wait for a channel, 3 that wait for a lock, and one that runs.
const leaking = `package main

import (
	"fmt"
	"os"
	"sync"
)

//go:noinline
func follow(events chan int) { <-events }

type store struct{ mu sync.Mutex }

//go:noinline
func (s *store) get() { s.mu.Lock(); s.mu.Unlock() }

func main() {
	events := make(chan int)
	for range 100 {
		go follow(events)
	}
	s := new(store)
	s.mu.Lock()
	for range 3 {
		go s.get()
	}
	go func() {
		for n := 0; ; n++ {
		}
	}()
	fmt.Println("started")
	os.Stdin.Read(make([]byte, 1))
}
`

// The profile of a program's memory has its goroutines with where they wait, whether it is moved when it is loaded or not, and has symbols or not.
func TestProfile(t *testing.T) {
	if !registersKnown {
		t.Skip("the struct g of this machine is not known")
	}
	for name, options := range map[string][]string{
		"fixed": {"-buildmode=exe"}, "moved": {"-buildmode=pie"},
		"fixed, without symbols": {"-buildmode=exe", "-ldflags=-s -w"}, "moved, without symbols": {"-buildmode=pie", "-ldflags=-s -w"},
	} {
		t.Run(name, func(t *testing.T) {
			child := probetest.PlayBuilt(t, leaking, options...)
			found := findAccess(t.Context(), discover.Target{PID: child.Process.Pid})
			if len(found) != 1 {
				t.Fatalf("found %+v", found)
			}
			const tries = 100
			for waiting, n := map[string]int64{}, 0; waiting["main.follow"] != 100 || waiting["main.(*store).get"] != 3; n++ { // they may just be starting
				if n == tries {
					t.Fatal(waiting)
				}
				r := probetest.Begin(t, found[0])
				r.Wait(t, "goroutine-1.pb.gz", func(b []byte) bool { return len(b) > 0 })
				if err := r.End(); err != nil {
					t.Fatal(err)
				}
				if len(r.Kept) == 0 {
					t.Fatal("no profile")
				}
				waiting = waitingIn(t, r.Kept[len(r.Kept)-1].Bytes())
			}
		})
	}
}

// starting starts three goroutines, of which one starts two, from a goroutine that was started by main, and says how many.
const starting = `package main

import (
	"fmt"
	"os"
)

func main() {
	events, begun := make(chan int), make(chan int)
	wait := func() { begun <- 1; <-events }
	go func() {
		for range 2 {
			go wait()
		}
		go func() {
			for range 2 {
				go wait()
			}
			wait()
		}()
		wait()
	}()
	for range 6 {
		<-begun
	}
	fmt.Println("started")
	os.Stdin.Read(make([]byte, 1))
}
`

// Of a goroutine those are found that it has started, and those that these have; each once.
func TestStarts(t *testing.T) {
	if !registersKnown {
		t.Skip("the struct g of this machine is not known")
	}
	child := probetest.PlayBuilt(t, starting, "-ldflags=-s -w")
	release, ok := IsGo(child.Process.Pid)
	s := OpenStarts(child.Process.Pid, release)
	if !ok || s == nil {
		t.Fatal(release)
	}
	n, first, err := s.readList()
	if err != nil {
		t.Fatal(err)
	}
	list := make([]byte, 8*n)
	if !s.readMemory(first, list) {
		t.Fatal(errNoMemory)
	}
	counts := make(map[int]int) // how many goroutines have started so many
	for i := range n {
		g := binary.NativeEndian.Uint64(list[8*i:])
		ids := make(map[uint64]bool)
		for _, x := range s.Of([]uint64{g}) {
			if x.Origin != g || x.Address == g || ids[x.ID] {
				t.Errorf("of %x: %+v", g, x)
			}
			ids[x.ID] = true
		}
		counts[len(ids)]++
	}
	if counts[5] != 1 || counts[2] != 1 { // the one that main has started, and the third of its own
		t.Errorf("how many have started so many: %v", counts)
	}
}

// waitingIn counts the goroutines of a profile by their innermost function of the program.
func waitingIn(t *testing.T, text []byte) map[string]int64 {
	p, err := profile.Parse(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	n := make(map[string]int64)
	for _, s := range p.Sample {
		for _, l := range s.Location {
			if f := l.Line[0].Function.Name; strings.HasPrefix(f, "main.") {
				n[f] += s.Value[0]
				break
			}
		}
	}
	return n
}

// The offsets in the struct g follow the releases.
func TestLayoutOf(t *testing.T) {
	for release, state := range map[string]int{"go1.17": 144, "go1.22.5": 144, "go1.23": 152, "go1.24.3": 152, "go1.25rc1": 144, "go1.26.1": 144} {
		if l := layoutOf(release); l.state != state || l.size < l.state+4 {
			t.Errorf("%s: %+v", release, l)
		}
	}
}
