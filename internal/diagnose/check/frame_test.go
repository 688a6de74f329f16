package check

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
)

const millisecond = int64(1e6)

// served is ten seconds of a service on 2 CPUs: a thousand requests, each of which computes for a millisecond. One in so many then waits somewhere.
type served struct {
	each   int           // one request in so many; 0 none
	waits  int64         // ms
	where  evidence.Kind // of the wait
	kinds  []evidence.Kind
	n      int           // requests, 0: a thousand
	slo    time.Duration // 0 none
	blind  bool          // their states are not known
	series map[string]float64
}

func (in served) build() *Case {
	const epoch = int64(1_700_000_000e9)
	b := evidence.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "trace.out"}), "gotrace")
	p.Clock().Name = "unix"
	s := p.Subject(evidence.Subject{Runtime: "go", CPUs: 2})
	host := p.Subject(evidence.Subject{Kind: evidence.Host, CPUs: 2})
	n := 1000
	if in.n > 0 {
		n = in.n
	}
	for i := range n {
		r := evidence.Request{Subject: s, Lane: evidence.LaneID(100 + i), Route: p.Name("GET /"), Start: epoch + int64(i)*10*millisecond}
		r.End = r.Start + millisecond
		path := evidence.Path(nil).Append(evidence.Segment{Kind: evidence.Running, Dur: millisecond})
		if in.each > 0 && i%in.each == 0 {
			where := in.where
			if in.kinds != nil {
				where = in.kinds[i/in.each%len(in.kinds)]
			}
			r.End += in.waits * millisecond
			path = path.Append(evidence.Segment{Kind: where, Dur: in.waits * millisecond, Cause: p.Name("what it waits for")})
		}
		if !in.blind {
			r.Path = path
		}
		p.Request(r)
	}
	kinds := []string{evidence.CoverRequests, evidence.CoverStates}
	if in.blind {
		kinds = kinds[:1]
	}
	for _, kind := range kinds {
		p.Cover(evidence.Coverage{Subject: s, Kind: kind, From: epoch, Until: epoch + 10_000*millisecond, Origin: p.Origin(1)})
	}
	for name, v := range in.series {
		x := evidence.Series{Subject: s, Name: name, T: []int64{epoch, epoch + 10_000*millisecond}, V: []float64{v, v}, Origin: p.Origin(2)}
		if strings.HasPrefix(name, "host.") {
			x.Subject = host
		}
		p.Series(x)
	}
	p.Close()
	return &Case{Bundle: b, Subject: s, Ledger: ledger.Build(b, ledger.Options{SLO: in.slo})[0]}
}

// Slow requests are looked at from five of them on with a hundredth of all time, noticed from a p99 on, and always where an objective makes them slow.
func TestSlowAndNoticed(t *testing.T) {
	for about, x := range map[string]struct {
		in            served
		slow, visible bool
	}{
		"none":                           {served{}, false, false},
		"four of a thousand":             {served{each: 250, waits: 300}, false, false},
		"five of a thousand":             {served{each: 200, waits: 300}, true, false}, // the p99 is quick
		"twenty of a thousand":           {served{each: 50, waits: 300}, true, true},
		"one in five, 19 ms":             {served{each: 5, waits: 18}, true, false},
		"one in five, 21 ms":             {served{each: 5, waits: 20}, true, true},
		"one in five, 4 ms, and a limit": {served{each: 5, waits: 3, slo: 2e6}, true, true},
		"a limit that most keep":         {served{each: 250, waits: 300, slo: 2e6}, false, false},
		"five with a little time":        {served{each: 200, waits: 2, slo: 1.5e6}, true, true},   // 15 ms of 1010
		"five with less":                 {served{each: 200, waits: 1, slo: 1.5e6}, false, false}, // 10 ms of 1005
		"none with a limit":              {served{slo: 2e6}, false, false},
	} {
		c := x.in.build()
		if c.Slow() != x.slow || c.UserVisible(Noticeable) != x.visible {
			t.Errorf("%s: slow %v, noticed %v: %d slow, p99 %.1f ms", about, c.Slow(), c.UserVisible(Noticeable), len(c.Ledger.Slow), c.Ledger.SlowP99()/1e6)
		}
	}
	if c := (&Case{Bundle: evidence.NewBundle()}); c.Slow() || c.UserVisible(Noticeable) || c.Traced() || c.HasRequestStates() || c.Share(ledger.Lock) != 0 || c.Details(ledger.Lock) != nil {
		t.Error("a case without requests has some")
	}
}

// The shares of mechanisms are of slow time; nineteen requests are too few for any.
func TestSharesOfSlowTime(t *testing.T) {
	c := served{each: 10, waits: 99, where: evidence.LockWait}.build()
	for m, want := range map[ledger.Mechanism]float64{ledger.Lock: .99, ledger.Own: .01, ledger.Dependency: 0} {
		if got := c.Share(m); math.Abs(got-want) > 1e-9 {
			t.Errorf("mechanism %v has %v of slow time, want %v", m, got, want)
		}
	}
	if got := c.Share(ledger.Lock, ledger.Own); math.Abs(got-1) > 1e-9 {
		t.Errorf("all have %v", got)
	}
	if !c.Traced() || (served{n: 19}).build().Traced() || !(served{n: 20}).build().Traced() || (served{blind: true}).build().Traced() {
		t.Error("twenty requests with states are enough, and no fewer")
	}
	s := c.SaveMechanism(ledger.Lock)
	if total := float64(c.Ledger.Total) / 1e6; math.Abs(s.Value-.99*total) > 1e-6 || s.Basis == nil || *s.Basis != "sampling" || *s.Low > s.Value || *s.High < s.Value || *s.High > total {
		t.Errorf("saves %+v of %v ms", s, total)
	}
	p := c.PredictP99(func(row int) int64 { return c.Ledger.Of(row)[ledger.Lock] })
	if p.Now == nil || p.Then == nil || *p.Now < 99 || *p.Then > 2 {
		t.Errorf("predicts %+v", p)
	}
	if p := c.PredictSlow(func(int) int64 { return 0 }); *p.Now != *p.Then || math.Abs(*p.Now-.1) > 1e-9 {
		t.Errorf("with nothing saved: %+v", p)
	}
}

// Threads that queue for a lock are judged by what it costs requests; without them by how many wait, in how many looks, and by what the holder does.
func TestContended(t *testing.T) {
	waiting := func(n float64) *metrics.Locks {
		return &metrics.Locks{Waiting: metrics.Value{Number: n, Watched: 1}, Looks: 10, Owner: "shop.Cart.add"}
	}
	with := func(n float64, change func(*metrics.Locks)) *metrics.Locks { l := waiting(n); change(l); return l }
	crowd := func(n int, told bool) func(*metrics.Locks) {
		return func(l *metrics.Locks) {
			l.Looks, l.Groups, l.Holder.Told = 1, []threads.Group{{Count: n}}, told
		}
	}
	few := Threshold{Name: "looks that a mean needs", Value: 5, Unit: "count"}
	more := []Need{{What: "more thread dumps"}}
	locked := func(share int) served { // of slow time
		kinds := make([]evidence.Kind, 100)
		for i := range kinds {
			if kinds[i] = evidence.SleepWait; i%100 < share {
				kinds[i] = evidence.LockWait
			}
		}
		return served{each: 10, waits: 199, kinds: kinds}
	}
	for _, x := range []struct {
		about   string
		in      *served // nil: no requests
		locks   *metrics.Locks
		charged bool
		excused bool
		more    []Need
		want    Rule
		says    string
	}{
		{"nobody waits", nil, waiting(0), false, false, nil, TooLittle, "no thread waited for a lock"},
		{"next to nobody waits", nil, waiting(.009), false, false, nil, TooLittle, "almost no thread waited"},
		{"less than one waits", nil, waiting(.99), false, false, nil, TooLittle, "on average 0.99 threads waited"},
		{"one waits", nil, waiting(1), false, false, nil, Matters, "on average 1 threads"},
		{"it was not watched", nil, &metrics.Locks{Waiting: metrics.Unknown}, false, false, nil, TooLittle, "no thread waited"},
		{"waits between looks", nil, with(0, func(l *metrics.Locks) { l.Waits, l.Waited = 3, 5e6 }), false, false, nil, TooLittle, "3 waits recorded, 5 ms in total"},
		{"the holder waits for work", nil, with(4, func(l *metrics.Locks) { l.Holder.Idle = true }), false, false, nil, TakeTurns, "take turns"},
		{"busy CPUs keep the holder", nil, waiting(1.5), false, true, nil, Explained, ""},
		{"they serve no requests", nil, with(2, func(l *metrics.Locks) { l.Apart = true }), false, false, nil, NotServing, "none of them serves requests"},
		{"few dumps, and few wait", nil, with(.5, func(l *metrics.Locks) { l.Looks = 4 }), false, false, more, TooFew, "in 4 thread dumps, too few"},
		{"few dumps, one waits", nil, with(1, crowd(1, true)), false, false, more, OneLook, "1 thread waited for a lock at the same time, but 1 thread dump"},
		{"one dump, three wait for a holder that is known", nil, with(3, crowd(3, true)), false, false, more, StandsAlone, "3 threads waited for one lock"},
		{"one dump, two wait for a holder that is known", nil, with(2, crowd(2, true)), false, false, more, OneLook, "2 threads waited"},
		{"one dump, two wait for a holder that waits for others", nil, with(2, func(l *metrics.Locks) { crowd(2, true)(l); l.Holder.Upon = true }), false, false, more, StandsAlone, ""},
		{"one dump, five wait for an unknown holder", nil, with(5, crowd(5, false)), false, false, more, OneLook, ""},
		{"an excerpt, three of which all wait", nil, with(3, func(l *metrics.Locks) { crowd(3, false)(l); l.All = true }), false, false, more, StandsAlone, ""},
		{"an excerpt, two of which all wait", nil, with(2, func(l *metrics.Locks) { crowd(2, false)(l); l.All = true }), false, false, more, OneLook, ""},

		{"no request is slow", &served{}, waiting(3), true, false, nil, NotSlow, "almost no requests were slow"},
		{"30 % of slow time", new(locked(30)), waiting(.2), true, false, nil, Matters, "30 % of slow time is waiting for locks"},
		{"20 % of slow time, and whose lock is known", new(locked(20)), waiting(3), true, false, nil, OnTheEdge, "just below the threshold"},
		{"20 % of slow time, and whose lock is not known", new(locked(20)), with(3, func(l *metrics.Locks) { l.Owner = "" }), true, false, nil, TooLittle, "20 % of slow time"},
		{"12 % of slow time", new(locked(12)), waiting(3), true, false, nil, TooLittle, "12 % of slow time"},
		{"unseen, and threads wait", &served{each: 10, waits: 199, where: evidence.Unobserved}, waiting(.02), true, false, nil, Unseen, "was not observed"},
		{"unseen, and no thread waits", &served{each: 10, waits: 199, where: evidence.Unobserved}, waiting(.009), true, false, nil, TooLittle, "no slow request waited"},
		{"requests are slow, and what they wait for is not known", &served{each: 10, waits: 199, blind: true}, waiting(1.2), false, false, nil, Matters, "on average 1.2 threads"},
	} {
		c := &Case{Bundle: evidence.NewBundle()}
		c.Bundle.Subjects = []evidence.Subject{{}}
		if x.in != nil {
			c = x.in.build()
		}
		v := c.Contended(Contention{Locks: x.locks, Charged: x.charged, Cores: 2, Few: few, Excused: x.excused, More: x.more, Title: "Threads wait for a lock.", Shorten: "do less", Outside: "wait elsewhere"})
		if v.Rule != x.want || !strings.Contains(v.Summary, x.says) {
			t.Errorf("%s: %s (%s), want %s and %q", x.about, v.Answer, v.Summary, x.want.Answer, x.says)
		}
		switch {
		case v.Supported() && (len(v.Fix) == 0 || v.Saves == nil && !(v.Weight > 0)):
			t.Errorf("%s: helps %v, saves %v, weighs %v", x.about, v.Fix, v.Saves, v.Weight)
		case v.LeftOpen() && len(v.Needs) == 0:
			t.Errorf("%s: asks for nothing", x.about)
		}
		d := c.Decision(&v)
		for i := range d.Steps {
			if s := &d.Steps[i]; s.Decides && v.Rule == TooLittle && s.Passed() && len(s.Compared) > 0 {
				t.Errorf("%s: no figure speaks against it: %+v", x.about, s.Compared)
			}
		}
	}
}

// A holder that waits itself is told to wait elsewhere, one that runs to do less.
func TestFixOfContention(t *testing.T) {
	for _, stands := range []bool{false, true} {
		c := &Case{Bundle: evidence.NewBundle()}
		c.Bundle.Subjects = []evidence.Subject{{}}
		l := &metrics.Locks{Waiting: metrics.Value{Number: 3, Watched: 1}, Owner: "shop.Cart.add", Holder: metrics.Holder{Owner: "shop.Stock.load", Stands: stands}}
		v := c.Contended(Contention{Locks: l, Shorten: "do less", Outside: "wait elsewhere", Title: "Threads wait."})
		want := Fix{Text: "do less", Code: "shop.Cart.add"}
		if stands {
			want = Fix{Text: "wait elsewhere", Code: "shop.Stock.load"}
		}
		if len(v.Fix) != 1 || v.Fix[0] != want {
			t.Errorf("the holder waits: %v: helps %+v", stands, v.Fix)
		}
	}
}

// The CPUs are full of the service's own work from nine tenths on, and from eight where the host has none left.
func TestFull(t *testing.T) {
	for _, x := range []struct {
		own, busy float64 // CPUs of 2; busy 0: not recorded
		full      bool
	}{
		{1.82, 0, true}, {1.78, 0, false}, {1.78, 1.92, true}, {1.78, 1.88, false}, {1.62, 1.92, true}, {1.58, 2, false}, {0, 2, false},
	} {
		in := served{blind: true, series: map[string]float64{evidence.SeriesProcessCPU: x.own}}
		if x.busy > 0 {
			in.series[evidence.SeriesHostCPUBusy] = x.busy
		}
		if got := in.build().Full(); got != x.full {
			t.Errorf("%v of 2 CPUs on a host with %v busy: full %v", x.own, x.busy, got)
		}
	}
}

// Others crowd the host where nine tenths of its CPUs are busy, and half of these with others.
func TestCrowding(t *testing.T) {
	for _, x := range []struct {
		own, busy, delay float64
		crowded          bool
		denied           float64
	}{
		{.4, 1.82, .6, true, .6}, {.4, 1.78, .6, false, 0}, {.9, 1.82, .9, true, .5}, {.95, 1.82, .95, false, 0}, {.4, 1.82, 0, true, 0},
	} {
		c := served{blind: true, series: map[string]float64{evidence.SeriesProcessCPU: x.own, evidence.SeriesHostCPUBusy: x.busy, evidence.SeriesProcessRunDelay: x.delay}}.build()
		switch crowd := c.Crowding(); {
		case (crowd != nil) != x.crowded:
			t.Errorf("%v of %v busy CPUs are its own: crowded %v", x.own, x.busy, crowd != nil)
		case crowd != nil && math.Abs(crowd.Denied-x.denied) > .01:
			t.Errorf("%v of %v: denied %v, want %v", x.own, x.busy, crowd.Denied, x.denied)
		}
	}
}

// A quota often stops a process from a tenth of its periods on; a stop's length counts only where the host is a quarter of slow time.
func TestStoppedByQuota(t *testing.T) {
	for _, x := range []struct {
		periods, stopped float64
		where            evidence.Kind
		share            float64
		length           int64 // ms
	}{
		{10, 2, evidence.Running, .2, 0}, {10, .5, evidence.Running, .05, 0}, {0, 0, evidence.Running, 0, 0},
	} {
		c := served{each: 10, waits: 99, where: x.where, series: map[string]float64{evidence.SeriesCgroupCPUPeriods: x.periods, evidence.SeriesCgroupCPUThrottledPeriods: x.stopped, evidence.SeriesCgroupCPUThrottled: .1}}.build()
		if got := c.Stopped(); math.Abs(got-x.share) > .001 {
			t.Errorf("%v of %v periods: %v", x.stopped, x.periods, got)
		}
		if got := c.StopLength() / millisecond; got != x.length {
			t.Errorf("%v of %v periods: stops of %d ms", x.stopped, x.periods, got)
		}
	}
	if got := (&Case{Bundle: evidence.NewBundle()}).Stopped(); !math.IsNaN(got) {
		t.Errorf("without requests: %v", got)
	}
}

// Pauses are noticed by those who arrive in them from 20 ms in the mean and a hundredth of the time on.
func TestSlowPausesMet(t *testing.T) {
	for _, x := range []struct {
		n    int
		took int64 // ms
		met  bool
	}{{0, 0, false}, {10, 21, true}, {10, 19, false}, {4, 21, false}, {5, 21, true}, {1, 101, true}, {1, 99, false}} {
		var p metrics.Pauses
		for i := range x.n {
			p = append(p, metrics.Pause{From: int64(i) * 500 * millisecond, To: (int64(i)*500 + x.took) * millisecond})
		}
		if got := SlowPausesMet(&metrics.Collector{Span: 10}, p); got != x.met {
			t.Errorf("%d pauses of %d ms in 10 s: %v", x.n, x.took, got)
		}
	}
}

// The worst minute is the one with most pauses, and none of a recording that is no longer.
func TestWorstMinute(t *testing.T) {
	second := int64(1e9)
	p := metrics.Pauses{{From: 10 * second, To: 11 * second}, {From: 100 * second, To: 103 * second}, {From: 150 * second, To: 152 * second}, {From: 290 * second, To: 291 * second}}
	if m := WorstMinute(&metrics.Collector{Span: 300}, p); m.Stopped != 5 || math.Abs(m.Share()-5./60) > 1e-9 {
		t.Errorf("%+v", m)
	}
	if m := WorstMinute(&metrics.Collector{Span: 60}, p); m != (Minute{}) {
		t.Errorf("of a minute: %+v", m)
	}
}

// Thresholds and figures compared with them are written alike, by their unit.
func TestThresholdsAreWritten(t *testing.T) {
	for want, x := range map[string]Threshold{
		"25 %": Material, "20 ms": Noticeable, "3": Crowd, "1 s": ASecond, "20": MinRequests, "2 times": TwoKinds,
	} {
		if got := x.String(); got != want {
			t.Errorf("%s: %q, want %q", x.Name, got, want)
		}
	}
	for want, got := range map[string]string{
		"none of the slow time": OfSlow(0), "less than 0.1 % of slow time": OfSlow(.0004), "30 % of slow time": OfSlow(.3), "no slow request waited for locks": SlowWait("for locks", 0, 0),
		"30 % of slow time is waiting for locks (12 ms)": SlowWait("for locks", 12e6, .3), "1 thread": formatMeanCount(1, "thread"), "2.5 threads": formatMeanCount(2.5, "thread"),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Steps and questions have their places; what another version knows comes last.
func TestPlaces(t *testing.T) {
	for i, s := range Steps {
		if s.Place() != i {
			t.Errorf("%s is at %d, want %d", s, s.Place(), i)
		}
	}
	if Step("of another version").Place() != len(Steps)-1 {
		t.Error("an unknown step is not the last")
	}
	for _, q := range Questions {
		if q.Asks() == "" {
			t.Errorf("%q asks nothing", q)
		}
	}
	if Question("of another version").Asks() != "" {
		t.Error("an unknown question asks something")
	}
	for _, r := range Policy {
		if n := r.Supported() || r.RuledOut() || r.LeftOpen(); !n || r.Supported() && r.RuledOut() || r.LeftOpen() && r.Supported() {
			t.Errorf("%s has not one consequence", r.Answer)
		}
	}
}

// Addresses stand in the names of dependencies, whatever is around them.
func TestAddressIn(t *testing.T) {
	for name, want := range map[string]string{"PostgreSQL at 127.0.0.1:5432 (SELECT)": "127.0.0.1:5432", "unix:/run/app.sock": "unix:/run/app.sock", "[::1]:80": "[::1]:80", "orders": "", "db:5432": "", "": ""} {
		if got := addressIn(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// What is usual is the median of all, of those that are not slow where most are slow and of another kind, and nothing where an objective says so; a route
// with few requests takes that of all.
func TestExcess(t *testing.T) {
	for _, x := range []struct {
		about       string
		fast, slow  int   // of a hundred requests
		took, slows int64 // ms that each kind takes, half of it in the wait
		usual       int64 // ms
	}{
		{"a tenth is slow", 90, 10, 8, 40, 4}, {"half is slow", 50, 50, 8, 40, 4}, {"most are slow, and far slower", 30, 70, 8, 40, 4}, {"most are slow, and alike", 30, 70, 8, 14, 0},
		{"all but nineteen are slow", 19, 81, 8, 40, 0}, {"all are slow", 0, 100, 8, 40, 0},
	} {
		b := evidence.NewBundle()
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "requests.txt"}), "requests")
		s := p.Subject(evidence.Subject{Runtime: "go"})
		var all, slow []int
		for i := range x.fast + x.slow {
			took := x.took
			if i >= x.fast {
				took = x.slows
				slow = append(slow, i)
			}
			all = append(all, i)
			p.Request(evidence.Request{Subject: s, Start: int64(i) * 100 * millisecond, End: (int64(i)*100 + took) * millisecond})
		}
		p.Close()
		c := &Case{Bundle: b, Subject: s, Ledger: &ledger.Ledger{Rows: all, Slow: slow}}
		per, usual, share := c.Excess(all, slow, func(row int) int64 { return b.Requests.Latency(row) / 2 })
		beyond := max(0, x.slows/2-x.usual)
		if usual != x.usual*millisecond || per[0] != beyond*millisecond || math.Abs(share-float64(beyond)/float64(x.slows)) > 1e-9 {
			t.Errorf("%s: usual %d ms, %d ms beyond it, %v of slow time", x.about, usual/millisecond, per[0]/millisecond, share)
		}
	}
}
