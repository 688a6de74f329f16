package top

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe/gopprof"
)

// A Go process's memory statistics (https://pkg.go.dev/runtime#MemStats) come from expvar where the process serves
// it, else from the end of the heap profile's text. The number of goroutines comes from the index page of
// net/http/pprof, which counts them without stopping any.

const (
	goMemory    = "Go runtime"
	goroutineID = "go/goroutines"
	gcCyclesID  = "go/gc-cycles"
	gcCPUID     = "go/gc-cpu"
)

var goRules = []Rule{
	{goroutineID, "growing and never falling: a leak, or requests pile up", alertGrowing(1, 30*time.Second, "a leak, or requests pile up")},
	{gcCyclesID, "> 1/s with memory to spare: raise GOGC or set GOMEMLIMIT", func(v View) string {
		if !(v.Of(gcCPUID) >= 5) || !v.holdsFor(5*time.Second, func(x float64) bool { return x > 1 }) {
			return ""
		}
		return "GC runs all the time: diagnose this process"
	}},
	{gcCPUID, "> 10 %: GC takes too much of the time", alertAbove(10, 5*time.Second, "GC takes too much of the time")},
	{"go/forced", "> 0: something calls runtime.GC", alertAbove(0, 5*time.Second, "something calls runtime.GC")},
	{"go/heap", "grows to the heap goal, then a GC cycle begins", nil},
}

// golang reads a Go process over HTTP.
type golang struct {
	client *gopprof.Client
	now    func() time.Time
	plain  bool // it serves no expvar
}

// Go are the counters of Go: those a process serves beside its net/http/pprof.
var Go = Counters{"go", openGo, goRules}

func openGo(ctx context.Context, t discover.Target, _ time.Duration, now func() time.Time) (Source, error) {
	c, err := gopprof.Dial(ctx, t)
	if err != nil {
		return nil, err
	}
	return &golang{client: c, now: now}, nil
}

const goPatience = 3 * time.Second

// Read requests the pages with the figures.
func (g *golang) Read(ctx context.Context) ([]Reading, error) {
	var out []Reading
	var at time.Time
	if !g.plain {
		if body, err := g.client.Get(ctx, "/debug/vars", "", goPatience); err != nil {
			g.plain = true
		} else {
			at = g.now()
			out, err = readExpvars(body)
			_ = body.Close()
			g.plain = err != nil || len(out) == 0
		}
	}
	if g.plain {
		body, err := g.client.Get(ctx, "heap", "debug=1", goPatience)
		if err != nil {
			return nil, g.wrapError(err)
		}
		at = g.now()
		out, err = heapText(body)
		_ = body.Close()
		if err != nil {
			return nil, g.wrapError(err)
		}
	}
	if body, err := g.client.Get(ctx, "", "", goPatience); err == nil {
		if n, ok := readGoroutineCount(body); ok {
			out = append([]Reading{{ID: goroutineID, Group: goMemory, Title: "goroutines", Unit: "count", Value: n}}, out...)
		}
		_ = body.Close()
	}
	for i := range out {
		out[i].At = at
	}
	return out, nil
}

// Every returns how often the process may be read. Without expvar the figures come with all allocation sites of the
// heap profile, and reading them stops the world.
func (g *golang) Every() time.Duration {
	if g.plain {
		return 5 * time.Second
	}
	return time.Second
}

func (g *golang) wrapError(err error) error { return fmt.Errorf("%s: %w", g.client.Where(), err) }

// Close closes the connections.
func (g *golang) Close() error { g.client.Close(); return nil }

var inIndex = regexp.MustCompile(`<td>(\d+)</td>\s*<td>\s*<a href=['"]?goroutine\?`)

// readGoroutineCount reads the number of goroutines from the index page of net/http/pprof, which
// has it since Go 1.10.
func readGoroutineCount(page io.Reader) (float64, bool) {
	text, err := io.ReadAll(io.LimitReader(page, 64<<10))
	found := inIndex.FindSubmatch(text)
	if err != nil || found == nil {
		return 0, false
	}
	n, err := strconv.ParseFloat(string(found[1]), 64)
	return n, err == nil
}

// memStats are the shown figures of runtime.MemStats, by their names in both pages.
var memStats = []struct {
	name string
	Reading
}{
	{"NumGC", Reading{ID: gcCyclesID, Title: "GC cycles", Unit: "1/s", Kind: Total}},
	{"GCCPUFraction", Reading{ID: gcCPUID, Title: "GC CPU, since the start", Unit: "%", Scale: 100}},
	{"HeapAlloc", Reading{ID: "go/heap", Title: "heap", Unit: "bytes"}},
	{"NextGC", Reading{ID: "go/goal", Title: "heap goal", Unit: "bytes"}},
	{"TotalAlloc", Reading{ID: "go/alloc", Title: "allocated", Unit: "bytes/s", Kind: Total}},
	{"Mallocs", Reading{ID: "go/mallocs", Title: "objects allocated", Unit: "1/s", Kind: Total}},
	{"HeapObjects", Reading{ID: "go/objects", Title: "objects", Unit: "count"}},
	{"PauseTotalNs", Reading{ID: "go/paused", Title: "time paused by GC", Unit: "%", Kind: Total, Scale: 100e-9}},
	{lastPause, Reading{ID: "go/last-pause", Title: "last GC pause", Unit: "ns"}},
	{"NumForcedGC", Reading{ID: "go/forced", Title: "forced GC cycles", Unit: "1/s", Kind: Total}},
	{"HeapInuse", Reading{ID: "go/inuse", Title: "heap in use, with free slots", Unit: "bytes"}},
	{"HeapIdle", Reading{ID: "go/idle", Title: "heap idle", Unit: "bytes"}},
	{"HeapReleased", Reading{ID: "go/released", Title: "heap returned to the kernel", Unit: "bytes"}},
	{"StackInuse", Reading{ID: "go/stacks", Title: "stacks", Unit: "bytes"}},
	{"Sys", Reading{ID: "go/sys", Title: "memory taken from the kernel", Unit: "bytes"}},
}

// lastPause is not a field of MemStats: it is PauseNs[(NumGC+255)%256], counted in 32 bits.
const lastPause = "last pause"

func memReadings(of map[string]float64, pauses []float64) (out []Reading) {
	if n := of["NumGC"]; n >= 1 && n <= math.MaxUint32 && len(pauses) == 256 {
		of[lastPause] = pauses[(int64(n)+255)%256]
	}
	for _, x := range memStats {
		if v, ok := of[x.name]; ok {
			r := x.Reading
			r.Group, r.Value = goMemory, v
			out = append(out, r)
		}
	}
	return out
}

// heapText reads the lines "# HeapAlloc = 4096" at the end of a heap profile's text. The text grows with the
// allocation sites and is read throughout the life of the process, so heapText skips the other lines in the buffer.
func heapText(page io.Reader) ([]Reading, error) {
	of := make(map[string]float64)
	var pauses []float64
	lines := bufio.NewReaderSize(page, 16<<10)
	for {
		line, err := lines.ReadSlice('\n')
		for err == bufio.ErrBufferFull { // a stack of many calls fills the buffer
			_, err = lines.ReadSlice('\n')
			line = nil
		}
		if len(line) > 2 && line[0] == '#' && line[1] == ' ' {
			name, value, ok := strings.Cut(strings.TrimSpace(string(line[2:])), " = ")
			if v, err := strconv.ParseFloat(value, 64); ok && err == nil {
				of[name] = v
			} else if ok && name == "PauseNs" {
				for f := range strings.FieldsSeq(strings.Trim(value, "[]")) {
					v, _ := strconv.ParseFloat(f, 64)
					pauses = append(pauses, v)
				}
			}
		}
		switch err {
		case nil:
		case io.EOF:
			return memReadings(of, pauses), nil
		default:
			return memReadings(of, pauses), err
		}
	}
}

// mostVars bounds how many of the program's own variables are shown.
const mostVars = 40

// readExpvars reads the page of expvar: "memstats", and the numbers that the program itself publishes.
func readExpvars(page io.Reader) ([]Reading, error) {
	var vars map[string]json.RawMessage
	if err := json.NewDecoder(io.LimitReader(page, 4<<20)).Decode(&vars); err != nil {
		return nil, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(vars["memstats"], &fields); err != nil {
		return nil, err
	}
	of := make(map[string]float64)
	var pauses []float64
	_ = json.Unmarshal(fields["PauseNs"], &pauses) // on an error no last pause is shown
	for name, raw := range fields {
		if v, ok := plainNumber(raw); ok {
			of[name] = v
		}
	}
	out := memReadings(of, pauses)
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		if v, ok := plainNumber(vars[name]); ok && len(out) < len(memStats)+mostVars {
			out = append(out, Reading{ID: "expvar/" + name, Group: "expvar", Title: name, Unit: "count", Value: v})
		}
	}
	return out, nil
}

func plainNumber(raw json.RawMessage) (float64, bool) {
	v, err := strconv.ParseFloat(string(raw), 64)
	return v, err == nil && !math.IsInf(v, 0) && !math.IsNaN(v)
}
