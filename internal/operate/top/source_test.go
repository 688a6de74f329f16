package top

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/base/hsperf"
)

// write makes files below a directory.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
}

func stat(state string, user, threads, start int) string {
	return fmt.Sprintf("71 (a b) c) %s 1 71 71 0 -1 4194304 500 0 3 0 %d 50 0 0 20 0 %d 0 %d 1000000 2048 18446744073709551615 1 1 0", state, user, threads, start)
}

func TestProc(t *testing.T) {
	root := t.TempDir()
	at := start
	p := newProc(71, func() time.Time { at = at.Add(time.Second); return at })
	p.root = root
	switched := func(task string, given, taken int) map[string]string {
		return map[string]string{"71/task/" + task + "/status": fmt.Sprintf("Name:\tx\nvoluntary_ctxt_switches:\t%d\nnonvoluntary_ctxt_switches:\t%d\n", given, taken)}
	}
	write(t, root, map[string]string{"71/stat": stat("S", 100, 2, 900)})
	write(t, root, switched("71", 1000, 10))
	write(t, root, switched("72", 7, 7))
	w := NewBoard(Subject{}, time.Second)
	read := func() error {
		r, err := p.Read(context.Background())
		w.Add(r)
		return err
	}
	if err := read(); err != nil {
		t.Fatal(err)
	}
	write(t, root, map[string]string{"71/stat": stat("S", 220, 3, 900)})
	write(t, root, switched("71", 1040, 15))
	write(t, root, switched("73", 5, 0)) // the thread has begun
	if err := os.RemoveAll(filepath.Join(root, "71/task/72")); err != nil {
		t.Fatal(err)
	}
	if err := read(); err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for id, r := range w.rows {
		got[id] = r.newestValue()
	}
	for id, want := range map[string]float64{cpuID: 120, threadsID: 3, "proc/rss": 2048 * float64(os.Getpagesize()), "proc/voluntary": 45, "proc/involuntary": 5, "proc/major-faults": 0} {
		if math.Abs(got[id]-want) > 1e-9 {
			t.Errorf("%s is %g, want %g", id, got[id], want)
		}
	}
	for name, text := range map[string]string{"a zombie": stat("Z", 220, 3, 900), "another process": stat("S", 1, 1, 901)} {
		write(t, root, map[string]string{"71/stat": text})
		if err := read(); !errors.Is(err, ErrEnded) {
			t.Errorf("%s: %v", name, err)
		}
	}
	write(t, root, map[string]string{"71/stat": "71 (x) S 1"})
	if err := read(); err == nil || errors.Is(err, ErrEnded) {
		t.Errorf("a short stat: %v", err)
	}
	if err := os.Remove(filepath.Join(root, "71/stat")); err != nil {
		t.Fatal(err)
	}
	if err := read(); !errors.Is(err, ErrEnded) {
		t.Errorf("gone: %v", err)
	}
}

func TestCores(t *testing.T) {
	for _, x := range []struct {
		name  string
		files map[string]string
		want  float64
	}{
		{"no limit", map[string]string{"proc/1/cgroup": "0::/a/b\n", "cg/a/b/cpu.max": "max 100000\n"}, 6},
		{"a group above", map[string]string{"proc/1/cgroup": "0::/a/b\n", "cg/a/b/cpu.max": "400000 100000\n", "cg/a/cpu.max": "150000 100000\n"}, 1.5},
		{"version 1", map[string]string{"proc/1/cgroup": "7:memory:/x\n4:cpu,cpuacct:/a\n", "cg/cpu/a/cpu.cfs_quota_us": "200000\n", "cg/cpu/a/cpu.cfs_period_us": "100000\n"}, 2},
		{"version 1, none", map[string]string{"proc/1/cgroup": "4:cpu,cpuacct:/a\n", "cg/cpu/a/cpu.cfs_quota_us": "-1\n", "cg/cpu/a/cpu.cfs_period_us": "100000\n"}, 6},
		{"no groups", nil, 6},
	} {
		dir := t.TempDir()
		write(t, dir, map[string]string{"proc/1/status": "Name:\tx\nCpus_allowed_list:\t0-3,8,10\n"})
		write(t, dir, x.files)
		if got := readCores(dir+"/proc", dir+"/cg", 1); got != x.want {
			t.Errorf("%s: %g, want %g", x.name, got, x.want)
		}
	}
	if got := readCores(t.TempDir(), "", 1); got != 0 {
		t.Errorf("no process: %g", got)
	}
}

// of returns readings by ID.
func of(readings []Reading) map[string]float64 {
	out := make(map[string]float64)
	for _, r := range readings {
		out[r.ID] = r.Value
	}
	return out
}

func TestGoPages(t *testing.T) {
	var pauses [256]int
	pauses[6] = 700 // the pause of the 7th cycle
	list, _ := json.Marshal(pauses)
	text := "heap profile: 1: 2 [3: 4] @ heap/1048576\n1: 2 [3: 4] @ 0x1\n#\t0x1\tmain.main+0x1\t/main.go:1\n\n" +
		"# runtime.MemStats\n# Alloc = 5\n# HeapAlloc = 4096\n# NextGC = 8192\n# PauseNs = [" + strings.Trim(strings.ReplaceAll(string(list), ",", " "), "[]") + "]\n# NumGC = 7\n# GCCPUFraction = 0.0123\n# DebugGC = false\n"
	got, err := heapText(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	vars, err := readExpvars(strings.NewReader(`{"cmdline":["x"],"orders":12,"name":"x","memstats":{"HeapAlloc":4096,"NextGC":8192,"NumGC":7,"GCCPUFraction":0.0123,"EnableGC":true,"PauseNs":` + string(list) + `}}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, m := range map[string]map[string]float64{"heap": of(got), "vars": of(vars)} {
		if m["go/heap"] != 4096 || m["go/goal"] != 8192 || m[gcCyclesID] != 7 || m["go/last-pause"] != 700 || m[gcCPUID] != .0123 {
			t.Errorf("%s: %v", name, m)
		}
	}
	if m := of(vars); m["expvar/orders"] != 12 || len(m) != len(of(got))+1 {
		t.Errorf("of its own: %v", m)
	}
	for _, text := range []string{"", "not json", `{"memstats":1}`, `{}`} {
		if _, err := readExpvars(strings.NewReader(text)); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
	for page, want := range map[string]float64{
		"<tr><td>12</td><td><a href='goroutine?debug=1'>goroutine</a></td></tr>": 12, // 1.26
		"<tr><td>9</td><td><a href=goroutine?debug=1>goroutine</a></td></tr>":    9,  // 1.15
		"<tr><td>9</td><td><a href='heap?debug=1'>heap</a></td></tr>":            0,
	} {
		if n, _ := readGoroutineCount(strings.NewReader(page)); n != want {
			t.Errorf("%s: %g, want %g", page, n, want)
		}
	}
}

func TestIsFull(t *testing.T) {
	for name, want := range map[string]bool{
		"G1 full collection pauses": true, "G1 stop-the-world full collections": true, "PSParallelCompact": true, "MSC": true, "Serial full collection pauses": true,
		"G1 young collection pauses": false, "PSScavenge": false, "Copy": false, "ZGC minor collection pauses": false, "CMS stop-the-world phases": false,
	} {
		if isFull(name) != want {
			t.Errorf("%q is full: %v", name, !want)
		}
	}
}

// A JVM that has no values yet, or uses a collector without generations, gives the counters it has.
func TestSparseJVM(t *testing.T) {
	if got := jvmReadings(new(hsperf.Data)); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

// A recorded session of .NET 10 gives all counters of System.Runtime.
func TestDotnetRecorded(t *testing.T) {
	f, err := os.Open("../../../../shared/corpus/nettrace/starve10.nettrace.gz")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("../shared/corpus is not there")
	} else if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	stream, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]int)
	units := make(map[string]string)
	if err := readCounters(stream, func(r Reading) {
		seen[r.ID]++
		units[r.ID] = r.Unit
		if r.At.IsZero() || r.Title == "" || r.Group != "System.Runtime" {
			t.Errorf("%+v", r)
		}
	}); err != nil {
		t.Fatal(err)
	}
	if len(seen) < 25 {
		t.Errorf("%d counters: %v", len(seen), seen)
	}
	for id, want := range map[string]string{
		"System.Runtime/threadpool-thread-count": "count", "System.Runtime/working-set": "bytes", "System.Runtime/cpu-usage": "%",
		"System.Runtime/alloc-rate": "bytes/s", "System.Runtime/gen-0-gc-count": "1/s",
	} {
		if seen[id] < 3 || units[id] != want {
			t.Errorf("%s: %d times, in %q, want %q", id, seen[id], units[id], want)
		}
	}
}
