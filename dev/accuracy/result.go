package main

import (
	"cmp"
	"context"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/present/json"
)

// Schema is the version of the JSON form of a [Result]. Keys are added, never renamed;
// unknown is null, never 0.
const Schema = "unstall.accuracy/v1"

// enough is the share of first verdicts that must be right.
const enough = .95

// Result is the result of all services in all runs.
type Result struct {
	Schema  string    `json:"schema"`
	Date    time.Time `json:"date"`
	Tool    string    `json:"tool_version"`
	Machine Machine   `json:"machine"`
	Again   bool      `json:"again"` // kept captures were diagnosed again
	Runs    int       `json:"runs"`
	Left    int       `json:"left,omitempty"` // services that a run in sittings has not reached yet
	Lead    string    `json:"-"`              // first part of the page, "" for that of lab/accuracy
	Blind   string    `json:"-"`              // the page's part about services whose authors have read no check

	Accuracy    Accuracy   `json:"accuracy"`
	FalseAlarms []string   `json:"false_alarms"`         // healthy services in which something was found
	Healthy     int        `json:"healthy"`              // services that were diagnosed
	Unknown     *float64   `json:"median_unknown_share"` // of the slow time of services with a fault
	MostUnknown *float64   `json:"p90_unknown_share"`    // nine in ten of these have less
	Slow        int        `json:"slow"`                 // of these, runs with slow requests
	Changed     []string   `json:"changed"`              // services with different judgements in several runs
	Failed      []string   `json:"failed"`               // services that could not be run
	Confusion   []Confused `json:"confusion"`
	Cases       []Case     `json:"services"`
	Pass        bool       `json:"pass"`
}

// Machine is the host of the run.
type Machine struct {
	CPUs   int    `json:"cpus"`
	Memory *int64 `json:"memory_bytes"`
	Kernel string `json:"kernel"`
	Arch   string `json:"arch"`
	Go     string `json:"go"`
}

// Accuracy counts first verdicts on services with a fault. Several runs of one service
// do not count as more services: the interval is of services.
type Accuracy struct {
	Right float64  `json:"right"` // services; a mean over the runs
	Of    int      `json:"of"`
	Share *float64 `json:"share"`
	Low   *float64 `json:"low"` // its 95 % interval (Wilson)
	High  *float64 `json:"high"`
}

// Confused counts how often one cause was found first where another was expected.
type Confused struct {
	Expected string   `json:"expected"`
	Found    string   `json:"found"`
	Count    int      `json:"count"` // runs of services
	Right    int      `json:"right"` // of those
	Services []string `json:"services"`
}

// resultOf sums up cases.
func resultOf(cases []Case) *Result {
	r := &Result{Schema: Schema, Cases: cases, FalseAlarms: []string{}, Changed: []string{}, Failed: []string{}, Confusion: []Confused{}}
	slices.SortStableFunc(r.Cases, func(a, b Case) int {
		return cmp.Or(boolToInt(a.Healthy)-boolToInt(b.Healthy), cmp.Compare(a.firstExpected(), b.firstExpected()), cmp.Compare(a.Service, b.Service), a.Run-b.Run)
	})
	var shares []float64
	for _, of := range byService(r.Cases) {
		right, asked, alarmed := 0, 0, false
		answers := map[string]bool{}
		for _, c := range of {
			r.Runs = max(r.Runs, c.Run)
			if c.Error != "" {
				r.Failed = addUnique(r.Failed, c.Service)
			}
			if !c.wasDiagnosed() {
				continue
			}
			asked++
			right += boolToInt(c.Right)
			alarmed = alarmed || c.FalseAlarm || c.Bare != nil && c.Bare.FalseAlarm
			answers[c.First()] = true
			if !c.Healthy && c.Unknown != nil {
				shares = append(shares, *c.Unknown)
			}
			r.countConfusion(c)
		}
		if asked == 0 {
			continue
		}
		if len(answers) > 1 || right != 0 && right != asked {
			r.Changed = append(r.Changed, of[0].Service)
		}
		if of[0].Healthy {
			r.Healthy++
			if alarmed {
				r.FalseAlarms = append(r.FalseAlarms, of[0].Service)
			}
			continue
		}
		r.Accuracy.Of++
		r.Accuracy.Right += float64(right) / float64(asked)
	}
	if len(shares) > 0 {
		median := stats.Median(shares)
		r.Unknown, r.Slow = &median, len(shares)
		slices.Sort(shares)
		tenth := shares[min(len(shares)-1, len(shares)*9/10)]
		r.MostUnknown = &tenth
	}
	a := &r.Accuracy
	if iv, ok := stats.WilsonInterval(a.Right, a.Of); ok {
		share := a.Right / float64(a.Of)
		a.Share, a.Low, a.High = &share, &iv.Low, &iv.High
	}
	r.Pass = len(r.FalseAlarms)+len(r.Failed) == 0 && (a.Share == nil || *a.Share >= enough)
	return r
}

// firstExpected returns the first expected cause, as tables name it.
func (c *Case) firstExpected() string {
	if c.Healthy || len(c.Expected) == 0 {
		return nothing
	}
	return c.Expected[0]
}

func boolToInt(last bool) int {
	if last {
		return 1
	}
	return 0
}

// byService returns the cases of each service, in their order.
func byService(cases []Case) (all [][]Case) {
	for i := 0; i < len(cases); {
		n := i + 1
		for n < len(cases) && cases[n].Service == cases[i].Service {
			n++
		}
		all = append(all, cases[i:n])
		i = n
	}
	return all
}

func (r *Result) countConfusion(c Case) {
	i := slices.IndexFunc(r.Confusion, func(x Confused) bool { return x.Expected == c.firstExpected() && x.Found == c.First() })
	if i < 0 {
		i = len(r.Confusion)
		r.Confusion = append(r.Confusion, Confused{Expected: c.firstExpected(), Found: c.First()})
	}
	x := &r.Confusion[i]
	x.Count++
	x.Right += boolToInt(c.Right)
	x.Services = addUnique(x.Services, c.Service)
}

func addUnique(names []string, name string) []string {
	if slices.Contains(names, name) {
		return names
	}
	return append(names, name)
}

func (r *Result) writeJSON(w io.Writer) error { return json.Encode(w, r) }

// thisMachine describes the host that this program runs on.
func thisMachine() Machine {
	m := Machine{CPUs: runtime.NumCPU(), Arch: runtime.GOARCH, Go: runtime.Version(), Kernel: runtime.GOOS}
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.Kernel = "Linux " + strings.TrimSpace(string(release))
	}
	text, _ := os.ReadFile("/proc/meminfo")
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "MemTotal:" {
			if kib, err := strconv.ParseInt(f[1], 10, 64); err == nil {
				bytes := kib << 10
				m.Memory = &bytes
			}
		}
	}
	return m
}

// toolVersion returns the version that the binary prints.
func toolVersion(ctx context.Context, binary string) string {
	said, err := exec.CommandContext(ctx, binary, "version").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimPrefix(strings.TrimSpace(string(said)), "unstall ")
}
