package goroutine

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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

// The profile of a program's memory has its goroutines with where they wait, whether it is moved when it is loaded or not.
func TestProfile(t *testing.T) {
	if !registersKnown {
		t.Skip("the struct g of this machine is not known")
	}
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("it needs the go tool")
	}
	for _, mode := range []string{"exe", "pie"} {
		t.Run(mode, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(leaking), 0o644); err != nil {
				t.Fatal(err)
			}
			bin := filepath.Join(dir, "leaking")
			build := exec.Command(tool, "build", "-buildmode="+mode, "-o", bin, filepath.Join(dir, "main.go"))
			build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
			if said, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, said)
			}
			child := exec.Command(bin)
			in, err := child.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := child.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := child.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() {
				in.Close()
				_ = child.Wait()
			}()
			if _, err := fmt.Fscanln(out, new(string)); err != nil {
				t.Fatal(err)
			}
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
