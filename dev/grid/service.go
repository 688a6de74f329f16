package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/lab/process"
	"github.com/unstall/unstall/lab/service"
)

// gateway are the flags of the go-ballast incident's service without the arithmetic of each
// request, so that the settings with the most GC can serve the load, too.
var gateway = []string{"-live=46"}

// processors is how many CPUs each service gets, which the host must have.
const processors = 2

// running is a gateway with one setting.
type running struct {
	*process.Process
	Setting
	said service.Announcement
	log  string // gctrace
}

// buildGateway builds the gateway with the Go on PATH.
func buildGateway(ctx context.Context, dir string) (bin string, err error) {
	bin = filepath.Join(dir, "gateway")
	said, err := exec.CommandContext(ctx, "go", "build", "-o", bin, "./lab/go-ballast/gateway").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build ./lab/go-ballast/gateway (from the root of the repository): %w: %s", err, said)
	}
	return bin, nil
}

func startGateway(ctx context.Context, bin, dir string, s Setting) (*running, error) {
	r := &running{Setting: s, log: filepath.Join(dir, strings.ReplaceAll(s.Name, " ", "-")+".gctrace")}
	args := append([]string{"-control", "-access-log=" + r.log + ".access"}, s.gatewayArgs()...)
	var err error
	if r.Process, err = process.Start(ctx, bin, args, s.processEnv(), r.log, &r.said); err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	return r, nil
}

// logSize returns the size of the gctrace log, bytes.
func (r *running) logSize() int64 {
	st, err := os.Stat(r.log)
	if err != nil {
		return 0
	}
	return st.Size()
}

// readNonheap returns the memory that the memory limit counts and the heap goal does not: all mapped
// memory that was not returned, less free spans, less the heap's objects (memoryLimitHeapGoal in
// https://go.dev/src/runtime/mgcpacer.go). It reads the figures at the end of the heap profile's
// text.
func (r *running) readNonheap(ctx context.Context) (float64, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+r.said.Debug+"/debug/pprof/heap?debug=1", nil)
	if err != nil {
		return 0, err
	}
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		return 0, err
	}
	defer a.Body.Close()
	return nonheapOf(a.Body)
}

func nonheapOf(text io.Reader) (float64, error) {
	want := map[string]float64{"Sys": -1, "HeapIdle": -1, "HeapAlloc": -1}
	lines := bufio.NewScanner(text)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		f := strings.Fields(lines.Text()) // "# HeapIdle = 7405568"
		if len(f) != 4 || f[0] != "#" || f[2] != "=" {
			continue
		}
		if _, ok := want[f[1]]; ok {
			v, err := strconv.ParseFloat(f[3], 64)
			if err != nil {
				return 0, fmt.Errorf("heap profile: %s: %w", f[1], err)
			}
			want[f[1]] = v
		}
	}
	for name, v := range want {
		if v < 0 {
			return 0, errors.Join(fmt.Errorf("heap profile: it does not say %s", name), lines.Err())
		}
	}
	// Sys − HeapReleased is mapped and ready, HeapIdle − HeapReleased is free of that.
	return want["Sys"] - want["HeapIdle"] - want["HeapAlloc"], nil
}

// warmUp puts load on a service until its memory is on a plateau, and through at least two cycles.
func (r *running) warmUp(ctx context.Context, rate float64, most time.Duration) error {
	const (
		every = 500 * time.Millisecond
		looks = 4
		still = .03
		slack = 8 << 20
	)
	ctx, enough := context.WithCancel(ctx)
	defer enough()
	done := make(chan error, 1)
	go func() {
		_, err := driveLoad(ctx, r, demand{rate: rate, lasts: most, seed: 1})
		done <- err
	}()
	first, err := r.Command("state")
	if err != nil {
		return err
	}
	var resident []int64
	for flat := false; !flat; {
		select {
		case err := <-done:
			return err // the time is used up
		case <-time.After(every):
		}
		now, err := r.Command("state")
		if err != nil {
			return err
		}
		resident = append(resident, now.RSS)
		if n := len(resident); n >= looks && now.GCCycles >= first.GCCycles+2 {
			least, greatest := now.RSS, now.RSS
			for _, v := range resident[n-looks:] {
				least, greatest = min(least, v), max(greatest, v)
			}
			flat = greatest-least <= max(slack, int64(still*float64(greatest)))
		}
	}
	enough()
	<-done
	return nil
}
