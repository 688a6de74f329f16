package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	runtimes "github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/load"
	"github.com/unstall/unstall/internal/collect/probe"
	probes "github.com/unstall/unstall/internal/collect/probe/all"
	"github.com/unstall/unstall/internal/collect/record"
	"github.com/unstall/unstall/lab/loadgen"
	"github.com/unstall/unstall/lab/process"
)

// nativeSource is the service of recordings without a runtime.
//
//go:embed native/service.c
var nativeSource []byte

// native is how the native service is run.
type native struct {
	memory int64 // memory limit of its cgroup, bytes; 0: none
	file   int64 // size of a file that it reads, bytes; 0: none
	swap   int64 // swap that is added to the host, bytes; 0: none
	idle   bool  // it gets no requests
	report int   // every n-th request asks for a report, 0: none
}

// requestPaths returns the paths to request in turn.
func (n *native) requestPaths() []string {
	if n.report == 0 {
		return []string{"/order/{n}"}
	}
	return append(slices.Repeat([]string{"/order/{n}"}, n.report-1), "/report/{n}")
}

// recordNative records the native service as unstall PID --kernel --load URL does.
func recordNative(ctx context.Context, r recording, tmp string, say func(string)) (t *truth, err error) {
	t = &truth{ID: r.id, About: r.about, Recorded: time.Now().UTC().Format(time.RFC3339), Recipe: "go run ./dev/recorder one " + r.id, Cores: runtime.NumCPU()}
	bin, err := buildNative(ctx, tmp)
	if err != nil {
		return nil, err
	}
	args := slices.Clone(r.args)
	if r.native.file > 0 {
		name, err := fileOf(r.native.file)
		if err != nil {
			return nil, err
		}
		defer os.Remove(name)
		args = append(args, name)
	}
	var group *process.Limit
	if r.native.memory > 0 {
		if group, err = process.NewLimit(r.native.memory); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, group.Remove()) }()
		t.Others = append(t.Others, fmt.Sprintf("a memory limit of %d MiB", r.native.memory>>20))
	}
	if r.native.swap > 0 {
		end, err := addSwap(ctx, r.native.swap)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, end()) }()
		t.Others = append(t.Others, "a swap file")
	}
	program := bin
	if group != nil {
		program, args = group.Within(bin, args)
	}
	var said struct{ Serving string }
	service, err := process.Start(ctx, program, args, nil, filepath.Join(tmp, "stderr"), &said)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(service.Stop(), err) }()
	t.Command, t.Toolchain, t.Procs, t.PID = "service "+strings.Join(r.args, " "), "cc", runtime.NumCPU(), service.PID
	found, err := discover.Resolve(ctx, strconv.Itoa(service.PID), runtimes.Recognisers())
	if err != nil {
		return nil, err
	}
	path := filepath.Join(tmp, "capture.unstall")
	from := markOf(service)
	opt := record.Options{For: r.capture, Path: path, Tool: "dev/recorder", Command: []string{"unstall", "record"}}
	if !r.native.idle {
		plan := load.Plan{URL: "http://" + said.Serving, Paths: r.native.requestPaths(), Header: http.Header{}, Mode: load.Open, Arrivals: load.Poisson, Seed: 7, Rate: r.load.Rate, Duration: r.warm, Timeout: r.capture}
		if r.warm > 0 {
			say("warming up")
			if _, err := load.Run(ctx, plan, nil); err != nil {
				return nil, err
			}
		}
		plan.Duration = r.capture
		opt.Beside = func(ctx context.Context, sink probe.Sink) error {
			return record.RunLoad(plan, found.Subject(), nil, func(result *load.Result) { t.Load = loadResult(r.load, result) })(ctx, sink)
		}
	}
	say("recording")
	all := append(slices.Concat(probes.Probes, probes.Kernel), probes.Exchanges)
	if _, err := record.Find(ctx, all, []discover.Target{found}).Record(ctx, opt); err != nil {
		return nil, err
	}
	t.All = from.windowUntil(markOf(service))
	switch {
	case r.native.idle:
		t.Load = &loadgen.Result{}
	case t.Load == nil:
		return nil, errors.New("nothing is known of the load")
	}
	if err := unpackCapture(path, tmp); err != nil {
		return nil, err
	}
	return t, removeHostNames(tmp)
}

// buildNative compiles the service with frame pointers, which the kernel needs to read its stacks.
func buildNative(ctx context.Context, tmp string) (bin string, err error) {
	source := filepath.Join(tmp, "service.c")
	if err := os.WriteFile(source, nativeSource, 0o644); err != nil {
		return "", err
	}
	bin = filepath.Join(tmp, "service")
	said, err := exec.CommandContext(ctx, "cc", "-O1", "-g", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-pthread", "-o", bin, source).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("cc service.c: %w: %s", err, said)
	}
	return bin, nil
}

// fileOf makes a file of that many bytes on the disk.
func fileOf(size int64) (name string, err error) {
	f, err := os.CreateTemp("", "orders-*.data")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	block := make([]byte, 1<<20)
	for i := range block {
		block[i] = byte(i * 7)
	}
	for at := int64(0); at < size; at += int64(len(block)) {
		if _, err := f.Write(block); err != nil {
			return f.Name(), err
		}
	}
	if err := f.Sync(); err != nil {
		return f.Name(), err
	}
	return f.Name(), dropFileCache(f)
}

// nativeFixtures returns the fixtures of causes for which the kernel is the only source.
func nativeFixtures() []recording {
	of := func(rate float64, args ...string) recording {
		r := recording{native: &native{}, args: args, warm: time.Second, capture: 8 * time.Second}
		r.load.Rate = rate
		return r
	}
	reading := func(mode string, file, memory int64) recording {
		r := of(40, mode)
		r.native.file, r.native.memory = file, memory
		return r
	}
	reports := func(mode string) recording {
		r := of(120, mode, "30")
		r.native.report = 12
		return r
	}
	table := func(memory int64) recording {
		r := of(40, "table", "256")
		r.native.swap, r.native.memory = 512<<20, memory
		return r
	}
	packets := func(args ...string) recording {
		r := of(0, append([]string{"packets"}, args...)...)
		r.native.idle = true
		return r
	}
	return []recording{
		nativeFixture("linux.disk-sync/sick", "a journal in C: each request appends lines and syncs each, under one lock", of(75, "sync").withChange(func(r *recording) {
			r.expect = []bound{{"clients' p99 ms", 20, 0}}
		})),
		nativeFixture("linux.disk-sync/healthy", "the same journal, synced by a thread that nobody waits for", of(75, "log").withChange(func(r *recording) {
			r.expect = []bound{{"clients' p99 ms", 0, 20}}
		})),
		nativeFixture("linux.disk-busy/sick", "requests read 512 pages all over a file, none of which is kept in memory", reading("cold", 256<<20, 0).withChange(func(r *recording) {
			r.expect = []bound{{"clients' p99 ms", 20, 0}}
		})),
		nativeFixture("linux.disk-busy/healthy", "the same file, kept in memory", reading("warm", 256<<20, 0).withChange(func(r *recording) {
			r.expect = []bound{{"clients' p99 ms", 0, 20}}
		})),
		nativeFixture("linux.memory-reclaim/sick", "requests read 512 pages all over a file of 256 MiB, in a group that may have 64 MiB", reading("warm", 256<<20, 64<<20).withChange(func(r *recording) {
			r.expect = []bound{{"clients' p99 ms", 20, 0}}
		})),
		nativeFixture("linux.memory-reclaim/healthy", "the same in a group that may have 512 MiB", reading("warm", 256<<20, 512<<20).withChange(func(r *recording) {
			r.expect = []bound{{"clients' p99 ms", 0, 20}}
		})),
		nativeFixture("linux.futex/sick", "each request computes for 4 ms under one lock, on a host with CPUs to spare", of(190, "lock", "4").withChange(func(r *recording) {
			r.expect = []bound{{"clients' p99 ms", 20, 0}, {"cores", 0, 1.2}}
		})),
		nativeFixture("linux.futex/healthy", "the same without the lock", of(190, "free", "4").withChange(func(r *recording) {
			r.expect = []bound{{"clients' p99 ms", 0, 20}}
		})),
		nativeFixture("service.blocked-loop/sick", "one thread serves all connections and computes for 30 ms in each report", reports("loop").withChange(func(r *recording) {
			r.expect = []bound{{"clients' p99 ms", 30, 0}, {"cores", 0, .8}}
		})),
		nativeFixture("service.blocked-loop/healthy", "the same, and threads of their own compute", reports("aside").withChange(func(r *recording) {
			r.expect = []bound{{"clients' p99 ms", 0, 60}}
		})),
		nativeFixture("linux.swap/sick", "requests touch 512 pages all over a table of 256 MiB, in a group that may have 128 MiB, with swap", table(128<<20).withChange(func(r *recording) {
			r.expect = []bound{{"clients' p99 ms", 20, 0}}
		})),
		nativeFixture("linux.swap/healthy", "the same in a group that may have 512 MiB", table(512<<20).withChange(func(r *recording) {
			r.expect = []bound{{"clients' p99 ms", 0, 20}}
		})),
		nativeFixture("linux.softirq/sick", "a thread sends small datagrams to another of its process, as fast as it can", packets("64")),
		nativeFixture("linux.softirq/healthy", "more bytes a second than the sick one sends, in datagrams of 60 kB", packets("60000", "1")),
	}
}

func nativeFixture(id, about string, r recording) recording {
	r = newFixture(id, about, r)
	r.accessLog = false
	return r
}
