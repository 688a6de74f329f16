package main

import (
	"bufio"
	"fmt"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// clockTick is how long one tick of /proc/PID/stat is (USER_HZ, 100 on Linux).
const clockTick = 10 * time.Millisecond

// counters are the counts of a process and the machine at one time, from
// outside.
type counters struct {
	user, system time.Duration      // CPU time of the process
	machine      time.Duration      // CPU time of all processes
	collector    map[string]float64 // what its runtime publishes about GC
	throttled    float64            // how often a quota stopped its group; NaN: it has none
}

func readCounters(pid int, p *place) counters {
	c := counters{throttled: math.NaN(), collector: map[string]float64{}}
	if b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil {
		_, rest, _ := strings.Cut(string(b), ") ")
		if f := strings.Fields(rest); len(f) > 12 {
			c.user, c.system = parseTicks(f[11]), parseTicks(f[12])
		}
	}
	if b, err := os.ReadFile("/proc/stat"); err == nil {
		for i, f := range strings.Fields(strings.SplitN(string(b), "\n", 2)[0]) {
			if i > 0 && i != 4 && i != 5 && i < 9 { // all but idle and iowait
				c.machine += parseTicks(f)
			}
		}
	}
	if p.group != nil {
		for _, file := range p.group.Files() {
			b, _ := os.ReadFile(file)
			if _, rest, ok := strings.Cut(string(b), "nr_throttled "); ok {
				c.throttled, _ = strconv.ParseFloat(strings.Fields(rest)[0], 64)
			}
		}
	}
	switch {
	case p.pprof != "":
		goCollector(p.pprof, c.collector)
	case filepath.Base(p.bin) == "java":
		jvmCollector(p.bin, pid, c.collector)
	}
	return c
}

func parseTicks(s string) time.Duration {
	n, _ := strconv.ParseInt(s, 10, 64)
	return time.Duration(n) * clockTick
}

// goCollector reads the end of a heap profile as text.
func goCollector(pprof string, to map[string]float64) {
	r, err := http.Get(pprof + "/heap?debug=1")
	if err != nil {
		return
	}
	defer r.Body.Close()
	in := bufio.NewScanner(r.Body)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		for _, name := range []string{"NumGC", "NumForcedGC", "GCCPUFraction", "HeapInuse", "NextGC", "TotalAlloc"} {
			if v, ok := strings.CutPrefix(in.Text(), "# "+name+" = "); ok {
				to[name], _ = strconv.ParseFloat(v, 64)
			}
		}
	}
}

// jvmCollector asks jstat: numbers and seconds of young, full and concurrent collections.
func jvmCollector(java string, pid int, to map[string]float64) {
	out, err := exec.Command(filepath.Join(filepath.Dir(java), "jstat"), "-gcutil", strconv.Itoa(pid)).Output()
	if err != nil {
		return
	}
	lines := strings.Split(string(out), "\n")
	if len(lines) < 2 {
		return
	}
	names, values := strings.Fields(lines[0]), strings.Fields(lines[1])
	for i, name := range names {
		if i < len(values) {
			if v, err := strconv.ParseFloat(values[i], 64); err == nil {
				to[name] = v
			}
		}
	}
}

// truth is what is known of a run without unstall.
type truth struct {
	name, what    string
	from, to      time.Time
	before, after counters
	said          []byte // by unstall during the recording
}

// writeFile writes the truth beside the capture.
func (t truth) writeFile(name, rows string) error {
	var b strings.Builder
	long := t.to.Sub(t.from).Seconds()
	fmt.Fprintf(&b, "%s: %s\n", t.name, t.what)
	fmt.Fprintf(&b, "recorded %.1f s from %s\n", long, t.from.UTC().Format("15:04:05"))
	cpu := (t.after.user + t.after.system - t.before.user - t.before.system).Seconds()
	all := (t.after.machine - t.before.machine).Seconds()
	fmt.Fprintf(&b, "CPU: process %.2f (system %.2f), others %.2f CPUs\n", cpu/long, (t.after.system-t.before.system).Seconds()/long, (all-cpu)/long)
	if n := t.after.throttled - t.before.throttled; !math.IsNaN(n) {
		fmt.Fprintf(&b, "throttled by its quota %.0f times\n", n)
	}
	var names []string
	for k := range t.after.collector {
		names = append(names, k)
	}
	slices.Sort(names)
	for _, k := range names {
		fmt.Fprintf(&b, "collector: %s %g -> %g (%.4g per s)\n", k, t.before.collector[k], t.after.collector[k], (t.after.collector[k]-t.before.collector[k])/long)
	}
	if err := writeLatencies(&b, rows, t.from, t.to); err != nil {
		return err
	}
	fmt.Fprintf(&b, "\nrecord said:\n%s", t.said)
	fmt.Print(b.String(), "\n")
	return os.WriteFile(name+".truth", []byte(b.String()), 0o644)
}

// writeLatencies writes each route's latencies in the time recorded, from the intended start.
func writeLatencies(b *strings.Builder, rows string, from, to time.Time) error {
	f, err := os.Open(rows)
	if err != nil {
		return err
	}
	defer f.Close()
	took, failed := map[string][]float64{}, map[string]int{}
	in := bufio.NewScanner(f)
	for in.Scan() {
		part := strings.SplitN(in.Text(), " ", 8)
		if len(part) < 8 || part[0] == "#" {
			continue
		}
		intended, _ := strconv.ParseInt(part[0], 10, 64)
		end, _ := strconv.ParseInt(part[2], 10, 64)
		if intended < from.UnixNano() || intended > to.UnixNano() {
			continue
		}
		for _, route := range []string{"all", part[7]} {
			took[route] = append(took[route], float64(end-intended)/1e6)
			if part[6] != "ok" {
				failed[route]++
			}
		}
	}
	var routes []string
	for r := range took {
		routes = append(routes, r)
	}
	slices.Sort(routes)
	for i, r := range routes {
		if i > 8 {
			fmt.Fprintf(b, "and %d routes more\n", len(routes)-i)
			break
		}
		d := took[r]
		slices.Sort(d)
		at := func(q float64) float64 { return d[int(q*float64(len(d)-1))] }
		fmt.Fprintf(b, "%-40.40s %7d requests, %6.0f/s, p50 %.3g p90 %.3g p99 %.3g max %.3g ms, %d not ok\n",
			r, len(d), float64(len(d))/to.Sub(from).Seconds(), at(.5), at(.9), at(.99), d[len(d)-1], failed[r])
	}
	return in.Err()
}
