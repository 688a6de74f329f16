package watch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/operate/watch/rule"
	"github.com/unstall/unstall/internal/operate/watch/sample"
)

// still returns a watcher that does not run, and its output.
func still(t *testing.T, dir string, now *time.Time) (*Watcher, *bytes.Buffer) {
	t.Helper()
	var said bytes.Buffer
	w, err := New(Options{Targets: []string{"gateway"}, Dir: dir, Log: &said})
	if err != nil {
		t.Fatal(err)
	}
	w.now = func() time.Time { return *now }
	w.host = &subject{Subject: rule.Subject{Key: "host", Service: "web1", Host: true}, tally: sample.NewTally(0, 0)}
	return w, &said
}

func (w *Watcher) serviceOf(name, version string) *subject {
	s := &subject{Subject: rule.Subject{Key: name + " pid 7", Service: name}, target: discover.Target{PID: 7, Name: name, Runtime: "go", Version: version}, tally: sample.NewTally(0, 2)}
	w.subjects[s.Key] = s
	return s
}

// TestSummary checks that a day is summarized once, compared with the day before and with the last version's causes. This
// holds also if the watcher restarts in between, and a clock that is set back ends no day.
func TestSummary(t *testing.T) {
	dir := t.TempDir()
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	w, said := still(t, dir, &now)
	s := w.serviceOf("gateway", "go1.25.1")
	w.reportDay(now)
	found := func(w *Watcher, s *subject, causes ...string) {
		d := &diagnose.Diagnosis{Ledger: []diagnose.Entry{{Mechanism: "gc", SlowMs: 2000}}}
		for _, c := range causes {
			d.Verdicts = append(d.Verdicts, diagnose.Verdict{Cause: c, Verdict: "supported", Saves: &diagnose.Saves{Value: 1500}})
		}
		d.Verdicts = append(d.Verdicts, diagnose.Verdict{Cause: "linux.swap", Verdict: "ruled_out"})
		w.found.addDiagnosis(s, d)
		w.day.addDiagnosis(s.Service, d)
	}
	found(w, s, "go.gc-rate")
	s.requests.slowMs = 30_000
	now = now.Add(11 * time.Hour)
	w.reportDay(now)
	now = now.Add(-2 * time.Hour) // the clock is set back
	w.reportDay(now)
	if said.Len() != 0 {
		t.Fatalf("said %s before the day's end", said)
	}
	w.saveMemory()

	w, said = still(t, dir, &now)
	s = w.serviceOf("gateway", "go1.25.1")
	now = time.Date(2026, 11, 2, 0, 0, 1, 0, time.UTC)
	w.reportDay(now)
	one := line(t, said)
	if one.Event != EventSummary || len(one.Services) != 1 || one.Services[0].SlowS != 30 || one.Services[0].BeforeS != nil || one.Services[0].CausesMs["go.gc-rate"] != 1500 || one.Services[0].NewCauses != nil {
		t.Errorf("the first day: %+v", one)
	}
	delete(w.subjects, s.Key)
	s = w.serviceOf("gateway", "go1.26.0")
	found(w, s, "go.gc-rate", "go.lock-contention")
	s.requests.slowMs = 60_000
	now = now.Add(24 * time.Hour)
	w.reportDay(now)
	two := line(t, said)
	if x := two.Services[0]; x.SlowS != 60 || x.BeforeS == nil || *x.BeforeS != 30 || len(x.NewCauses) != 1 || x.NewCauses[0] != "go.lock-contention" {
		t.Errorf("the second day: %+v", two)
	}
	if !strings.Contains(two.Text, "30 s the day before") || !strings.Contains(two.Text, "new since the last version: gateway go.lock-contention") {
		t.Errorf("in words: %s", two.Text)
	}
	now = now.Add(time.Hour)
	w.reportDay(now)
	if said.Len() != 0 {
		t.Errorf("and then %s", said)
	}
}

func line(t *testing.T, said *bytes.Buffer) (x Line) {
	t.Helper()
	if err := json.Unmarshal(said.Bytes(), &x); err != nil {
		t.Fatalf("%s: %v", said, err)
	}
	said.Reset()
	return x
}

// TestMemory checks that a damaged file is renamed, and that this is reported.
func TestMemory(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "memory.json"), []byte(`{"schema":"unstall.memory/v1","usual":{"max`), 0o600); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	w, said := still(t, dir, &now)
	if x := line(t, said); x.Event != EventTrouble || !strings.Contains(x.Text, "memory.json.damaged") {
		t.Errorf("said %+v", x)
	}
	w.saveMemory()
	if _, err := os.Stat(filepath.Join(dir, "memory.json.damaged")); err != nil {
		t.Error(err)
	}
	if _, said = still(t, dir, &now); said.Len() != 0 {
		t.Errorf("said %s", said)
	}
}

// TestState checks the series that stores get beside the sampled ones: causes found, and how many processes of a service a
// rule holds for.
func TestState(t *testing.T) {
	now := time.Now()
	w, _ := still(t, t.TempDir(), &now)
	w.opt.Rules = rules(t, "- {id: any, title: it is there, series: proc/threads, above: 5}\n")
	s := w.serviceOf("gateway", "go1.26.0")
	s.release = "1.4.2"
	s.tally.Point(sample.Point{ID: "proc/threads", At: now.UnixNano(), V: 9}, 1)
	s.tally.At = now
	w.open["any\x00gateway pid 7"] = rule.Event{Rule: &w.opt.Rules[0], Subject: s.Subject, Fired: true}
	w.found.addDiagnosis(s, &diagnose.Diagnosis{Requests: &diagnose.Requests{Count: 9000, LedgerCount: 3000, Slow: 40}, Ledger: []diagnose.Entry{{Mechanism: "gc_pause", SlowMs: 2500}}, Verdicts: []diagnose.Verdict{{Cause: "go.gc-rate", Verdict: "supported", Saves: &diagnose.Saves{Value: 1500}}}})
	got := make(map[string]float64)
	for _, x := range w.State().Samples {
		var of []string
		for _, l := range x.Labels {
			if l.Name != "host" {
				of = append(of, l.Name+"="+l.Value)
			}
		}
		got[x.Full()+"{"+strings.Join(of, ",")+"}"] = x.Value
	}
	for name, want := range map[string]float64{
		"unstall_process_threads{pid=7,service=gateway}":                               9,
		"unstall_alarm{rule=any,service=gateway,severity=warn}":                        1,
		"unstall_slow_seconds_total{mechanism=gc_pause,service=gateway,version=1.4.2}": 2.5,
		"unstall_requests_total{service=gateway,version=1.4.2}":                        3000,
		"unstall_slow_requests_total{service=gateway,version=1.4.2}":                   40,
		"unstall_verdict{cause=go.gc-rate,service=gateway}":                            1,

		"unstall_cause_slow_seconds_total{cause=go.gc-rate,service=gateway}": 1.5,
		"unstall_time_seconds{}": float64(now.UnixMilli()) / 1e3,

		"unstall_up{pid=7,runtime=go,runtime_version=go1.26.0,service=gateway,version=1.4.2}": 1,
	} {
		if v, ok := got[name]; !ok || v != want {
			t.Errorf("%s: %v %t, want %v; there are %v", name, v, ok, want, got)
		}
	}
	now = now.Add(time.Minute)
	for _, x := range w.State().Samples {
		if x.Name == "unstall_process_threads" {
			t.Error("a figure of a minute ago is told as of now")
		}
	}
}

// TestRequests checks that requests are counted while their log is recorded, and that a request is slow if it exceeds the
// user's SLO, else if it takes far longer than usual.
func TestRequests(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	log := func(r *requests, n int, ms int) {
		write := r.followLog(capture.Meta{Name: "access.log", Lines: true, Found: true})
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "127.0.0.1 - - [%s] \"GET /feed HTTP/1.1\" %d 512 \"-\" \"-\" rt=%.3f\n", now.UTC().Format("02/Jan/2006:15:04:05 -0700"), 200+300*(i%10/9), float64(ms)/1e3)
		}
		text := b.String()
		write([]byte(text[:len(text)/2])) // a chunk ends anywhere
		write([]byte(text[len(text)/2:]))
	}
	of := func(points []sample.Point) map[string]float64 {
		m := make(map[string]float64)
		for _, p := range points {
			m[p.ID] = p.V
		}
		return m
	}
	r := &requests{slo: 100 * time.Millisecond}
	log(r, 100, 20)
	log(r, 50, 200)
	got := of(r.countNewRequests(now))
	for id, want := range map[string]float64{"requests/rate": 30, "requests/slow": 10, "requests/slow-share": 100. / 3, "requests/errors": 10, "requests/worst": 200} {
		if math.Abs(got[id]-want) > 1e-6 {
			t.Errorf("%s is %g, want %g", id, got[id], want)
		}
	}
	if got := of(r.countNewRequests(now)); got["requests/rate"] != 0 || len(got) != 1 {
		t.Errorf("nothing came: %v", got)
	}
	r = new(requests)
	for range 30 {
		log(r, 100, 20)
		got = of(r.countNewRequests(now))
	}
	if got["requests/slow-share"] != 0 {
		t.Errorf("all as usual: %v", got)
	}
	log(r, 100, 20)
	log(r, 25, 70)
	if got = of(r.countNewRequests(now)); got["requests/slow-share"] != 20 {
		t.Errorf("a fifth takes 3.5 times as long: %v", got)
	}
	if ms := r.takeSlow(); ms != 25*70 {
		t.Errorf("%g ms of slow requests", ms)
	}
	write := r.followLog(capture.Meta{Name: "app.log", Lines: true, Found: true})
	for range mostInVain + 1 {
		_, _ = io.WriteString(writer(write), "something happened\n")
		r.countNewRequests(now)
	}
	if r.followLog(capture.Meta{Name: "app.log", Lines: true, Found: true}) != nil {
		t.Error("a log without requests is read for ever")
	}
}

// A rule of the user's about requests that are not counted is reported once, and again when they are.
func TestSilentRules(t *testing.T) {
	own, err := rule.Load(strings.NewReader("rules:\n- id: my.slow\n  title: slow\n  series: requests/worst\n  above: 20\n"), "r.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w, err := New(Options{Targets: []string{"quotes"}, Rules: own, Log: &out, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	s := new(subject)
	s.Service = "quotes"
	w.reportSilentRules(s)
	w.reportSilentRules(s)
	if got := out.String(); strings.Count(got, "my.slow: no requests counted for quotes") != 1 || !strings.Contains(got, `"event":"trouble"`) || strings.Contains(got, "requests.slow") {
		t.Errorf("reported: %s", got)
	}
	s.requests.logs = map[string]*followedLog{"access.log": {useful: true}}
	w.reportSilentRules(s)
	if got := out.String(); !strings.Contains(got, "requests of quotes are counted") {
		t.Errorf("reported: %s", got)
	}
	if shipped, err := rule.Shipped(); err != nil || len(rulesOnRequests(shipped)) != 0 {
		t.Errorf("rules that come with unstall are reported as silent: %v", err)
	}
}

type writer func([]byte)

func (w writer) Write(p []byte) (int, error) { w(p); return len(p), nil }

// Earlier lines decide what few lines cannot, such as the unit of times. PHP-FPM's log has seconds and milliseconds with
// three decimals each. A look at lines without any CPU time is read as the looks before it.
func TestFewRequests(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	r := &requests{slo: 100 * time.Millisecond}
	log := func(lines ...string) map[string]float64 {
		write := r.followLog(capture.Meta{Name: "php-access.log", Lines: true, Found: true})
		for _, x := range lines {
			path, rest, _ := strings.Cut(x, " ")
			write(fmt.Appendf(nil, "- -  %s \"GET %s\" 200 /srv/www/index.php %s\n", now.UTC().Format("02/Jan/2006:15:04:05 -0700"), path, rest))
		}
		m := make(map[string]float64)
		for _, p := range r.countNewRequests(now) {
			m[p.ID] = p.V
		}
		return m
	}
	log("/delivery 40.836 2048 48.97%", "/product/3 0.636 2048 0.00%", "/product/4 0.746 2048 0.00%")
	if got := log("/product/3 0.754 2048 0.00%", "/delivery 0.804 2048 0.00%", "/product/5 0.428 2048 0.00%"); got["requests/worst"] != .804 || got["requests/slow"] != 0 || got["requests/rate"] != .6 {
		t.Errorf("%v: three requests of less than a millisecond", got)
	}
}

func rules(t *testing.T, text string) []rule.Rule {
	t.Helper()
	out, err := rule.Load(strings.NewReader("default: none\nrules:\n"+text), "rules.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
