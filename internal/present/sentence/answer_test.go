package sentence

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// A share is told once, and two shares each with what it is.
func TestClaim(t *testing.T) {
	for _, c := range []struct{ title, share, want string }{
		{"Requests wait for the event loop, which is busy: 84 % of slow time. In 99 % of that it handled GET /bus.", "84 %",
			"84 % of the slow time: Requests wait for the event loop, which is busy. In 99 % of that it handled GET /bus."},
		{"Slow requests wait for a turn: 82 % of slow time.", "66 %", "82 % of the slow time: Slow requests wait for a turn. Without that, 66 % of it would be gone."},
		{"Connections are accepted and wait to be read: 36 % of slow time passes in the unread connections at :80, before the service sees the request.", "36 %",
			"36 % of the slow time: Connections are accepted and wait to be read in the unread connections at :80, before the service sees the request."},
		{"Connections are accepted and wait to be read: 36 % of slow time passes at 10.0.0.7:80, before the service sees the request.", "36 %",
			"36 % of the slow time: Connections are accepted and wait to be read at 10.0.0.7:80, before the service sees the request."},
		{"Slow requests are busy in Index.search: 93 % of slow time is own work.", "92 %", "92 % of the slow time: Slow requests are busy in Index.search."},
		{"Slow requests are busy in Index.search: 66 % of slow time is own work.", "56 %", "66 % of the slow time: Slow requests are busy in Index.search. Without that, 56 % of it would be gone."},
		{"GC runs 9.3 times per second.", "78 %", "78 % of the slow time: GC runs 9.3 times per second."},
	} {
		if got := Claim(c.title, c.share); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// A service is not called healthy while a large part of its requests is slow by its own rule, however short they are.
func TestManySlowIsNotHealthy(t *testing.T) {
	num := func(v float64) *float64 { return &v }
	for slow, healthy := range map[int]bool{0: true, 8: true, 660: false} {
		d := &diagnose.Diagnosis{Outcome: diagnose.NothingFound, Requests: &diagnose.Requests{Count: 1000, LedgerCount: 1000, Slow: slow, SlowRule: "3x_route_floor",
			SlowThresholdMs: num(1.2), P50Ms: num(1.5), P99Ms: num(4), P999Ms: num(6)}}
		said := State(d) + ": " + Nothing(d, nil, nil)
		if got := Healthy(d) && State(d) == "nothing wrong"; got != healthy || strings.Contains(said, "Healthy") && !healthy {
			t.Errorf("%d of 1000 slow: %q", slow, said)
		}
	}
}

// Slow requests whose waits take as long as always are told so, and only an objective decides; a wait that nothing is known of is not.
func TestAsLongAsAlways(t *testing.T) {
	num := func(v float64) *float64 { return &v }
	for answer, want := range map[string]bool{check.ByDesign.Answer: true, check.Unseen.Answer: false} {
		v := diagnose.Verdict{Cause: "service.dependency-slow", Verdict: check.Inconclusive, Summary: "45 % of slow time is calls that take as long as ever, 50 ms or more", Decision: &check.Decision{Answer: answer}}
		d := &diagnose.Diagnosis{Outcome: diagnose.NotExplained, Verdicts: []diagnose.Verdict{v}, Requests: &diagnose.Requests{Count: 1000, LedgerCount: 1000, Slow: 200, SlowRule: "3x_route_floor", P50Ms: num(5), P99Ms: num(80)}}
		said := State(d) + ": " + Nothing(d, d.Verdicts, []diagnose.Verdict{{}})
		if got := strings.HasPrefix(said, "as long as always: 200 of 1,000 requests (20 %) took much longer than others of their route, and wait as long as always: 45 % of slow time is calls") && strings.Contains(said, "set --slo."); got != want || got == strings.Contains(said, "none of the causes checked") {
			t.Errorf("%s: %q", answer, said)
		}
	}
}

// Where most requests fail, that comes first, and nothing is called healthy or usual.
func TestMostFail(t *testing.T) {
	num := func(v float64) *float64 { return &v }
	for failed, want := range map[int]bool{0: false, 100: false, 900: true} {
		d := &diagnose.Diagnosis{Outcome: diagnose.NothingFound, Requests: &diagnose.Requests{Count: 1000, LedgerCount: 1000, Failed: failed, SlowRule: "3x_route_floor",
			SlowThresholdMs: num(6000), P50Ms: num(2000), P99Ms: num(2010), P999Ms: num(2012)}}
		said := State(d) + ": " + Nothing(d, nil, nil)
		if got := strings.HasPrefix(said, "most requests fail: 900 of 1,000 requests (90 %) failed, p50 2 s"); got != want || want && Healthy(d) {
			t.Errorf("%d of 1000 failed: %q", failed, said)
		}
	}
}

// Failed requests are told with the status that most of them were answered with.
func TestFailedStatus(t *testing.T) {
	for _, c := range []struct {
		failed, status, with int
		want                 string
	}{{0, 0, 0, "1,000"}, {900, 0, 0, "1,000 (900 failed)"}, {900, 500, 900, "1,000 (900 failed with status 500)"}, {900, 404, 880, "1,000 (900 failed, 880 of them with status 404)"}} {
		r := &diagnose.Requests{Count: 1000, Failed: c.failed, FailedStatus: c.status, FailedWith: c.with}
		if got := Requests(r)[0]; got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// What a cause costs is told in the unit of the whole, unless that makes it a small part of an hour.
func TestSavedOfTotal(t *testing.T) {
	for _, c := range []struct {
		saved, total float64 // s
		want         string
	}{{510, 1794, "8.5 min of 29.9 min"}, {622, 28980, "10.4 min of 8.05 h"}, {7560, 28980, "2.1 h of 8.05 h"}, {4320, 28980, "1.2 h of 8.05 h"}, {12.8, 17.5, "12.8 s of 17.5 s"}} {
		d := &diagnose.Diagnosis{Requests: &diagnose.Requests{SlowTotalMs: 1e3 * c.total}}
		if got := formatSaved(d, &diagnose.Verdict{Saves: &diagnose.Saves{Value: 1e3 * c.saved}}); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// A prediction that changes nothing anybody would notice is not told.
func TestNoticed(t *testing.T) {
	num := func(v float64) *float64 { return &v }
	for _, c := range []struct {
		now, then *float64
		want      bool
	}{{num(.23), num(.23), false}, {num(282), num(274), false}, {num(282), num(200), true}, {nil, num(5), true}, {num(0), num(250), true}} {
		if got := Noticed(&diagnose.Prediction{Now: c.now, Then: c.then}); got != c.want {
			t.Errorf("%v: %v", c, got)
		}
	}
}

// A title and what its cause costs tell one share once, and two shares each with what it is.
func TestTitleAndCost(t *testing.T) {
	for share, want := range map[float64]string{
		.84: "Requests wait for the event loop, which is busy. Accounts for 84 % of the slow time: 84 ms of 100 ms.",
		.66: "Requests wait for the event loop, which is busy: 84 % of slow time. Without it, 66 % of the slow time would be gone: 66 ms of 100 ms.",
	} {
		d := &diagnose.Diagnosis{Requests: &diagnose.Requests{SlowTotalMs: 100}}
		v := &diagnose.Verdict{Title: "Requests wait for the event loop, which is busy: 84 % of slow time.", Saves: &diagnose.Saves{Value: 100 * share}}
		if got := Title(d, v) + " " + Cost(d, v); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// What would show something is a command, which is copied, or a sentence, which is read.
func TestIsCommand(t *testing.T) {
	for do, want := range map[string]bool{
		"sudo unstall 4711": true, "echo +cpu | sudo tee /sys/fs/cgroup/cgroup.subtree_control": true, `unstall predict FILE --set "await service-time=500ms in all"`: true,
		`for i in $(seq 40); do echo "-- $(date +%s%N) --"; sleep .25; done >host.txt 2>/dev/null`: true, "for a longer time": false,
		`add import _ "net/http/pprof" to the program`: false, "record without --passive": false, "a newer kernel": false, "Linux 5.16 or later": false, "": false,
	} {
		if IsCommand(do) != want {
			t.Errorf("%q is a command: %v", do, !want)
		}
	}
}

// Where no cause stands out and no objective is set, the report says where most time of all requests goes.
func TestBusiestRouteIsTold(t *testing.T) {
	num := func(v float64) *float64 { return &v }
	d := &diagnose.Diagnosis{Outcome: diagnose.NothingFound, Requests: &diagnose.Requests{Count: 1000, LedgerCount: 1000, Slow: 660, SlowRule: "3x_route_floor",
		SlowThresholdMs: num(1.2), P50Ms: num(1.5), P99Ms: num(4), P999Ms: num(6)},
		Busiest: &diagnose.Busiest{Route: "GET /rates", Share: num(.85), P50Ms: num(26.6), Parts: []diagnose.Portion{
			{Title: "waiting for a dependency", Detail: "10.0.0.7:5432", Share: num(.6)}, {Title: "own work", Share: num(.3)}}}}
	const want = "Of all requests' time 85 % is in GET /rates (p50 26.6 ms): waiting for a dependency: 10.0.0.7:5432 60 %, own work 30 %. Whether that is too long, only an objective tells"
	if said := Nothing(d, nil, nil); !strings.Contains(said, want) {
		t.Errorf("%q", said)
	}
	d.Busiest.Parts, d.Busiest.Code = []diagnose.Portion{{Title: "own work", Share: num(.87)}, {Title: "unexplained", Share: num(.1)}}, "FormWriter.Write"
	if said := Nothing(d, nil, nil); !strings.Contains(said, ": own work 87 %, most of it in FormWriter.Write; unexplained 10 %.") {
		t.Errorf("%q", said)
	}
	d.Busiest.Parts = nil
	if said := Nothing(d, nil, nil); strings.Contains(said, "Of all requests' time") {
		t.Errorf("nothing is known of it: %q", said)
	}
}

// A route that always takes long makes no request slow for its route; the service is not called well for that.
func TestRouteThatAlwaysTakesLong(t *testing.T) {
	num := func(v float64) *float64 { return &v }
	for _, x := range []struct {
		p99, limit *float64
		want       string
	}{
		{num(342), nil, "no slower than usual"}, // each route has its own limit
		{num(19), nil, "nothing wrong"},
		{num(55), num(60), "nothing wrong"},
	} {
		d := &diagnose.Diagnosis{Outcome: diagnose.NothingFound, Requests: &diagnose.Requests{Count: 365, LedgerCount: 365, SlowRule: "3x_route_floor",
			SlowThresholdMs: x.limit, P50Ms: num(2), P99Ms: x.p99}}
		if got := wellState(d); got != x.want {
			t.Errorf("p99 %v ms, limit %v: %s, want %s", *x.p99, x.limit, got, x.want)
		}
		if said := Nothing(d, nil, nil); strings.Contains(said, "none much longer") != (x.want == "no slower than usual") {
			t.Errorf("p99 %v ms: %q", *x.p99, said)
		}
	}
}

// A share that is an end of its own interval is told as the interval, and its time as a bound.
func TestShareAtTheEndOfItsInterval(t *testing.T) {
	for _, c := range []struct {
		value, low, high        float64
		basis                   string
		share, interval, amount string
	}{
		{790, 110, 790, "bound", "11–79 %", "", "at most 790 ms of 1 s slow time"},
		{821, 820, 840, "bound", "82–84 %", "", "at least 821 ms of 1 s slow time"},
		{700, 110, 790, "bound", "70 %", "between 11 and 79 %", "700 ms of 1 s slow time"},
		{710, 290, 1000, "sampling", "71 %", "29–100 %, 95 % interval", "710 ms of 1 s slow time"},
		{1000, 290, 1000, "sampling", "29–100 %", "95 % interval", "at most 1 s of 1 s slow time"},
		{960, 959, 961, "bound", "96 %", "", "960 ms of 1 s slow time"},
	} {
		d := &diagnose.Diagnosis{Requests: &diagnose.Requests{SlowTotalMs: 1000}}
		v := &diagnose.Verdict{Title: "GC runs often.", Saves: &diagnose.Saves{Value: c.value, Low: &c.low, High: &c.high, Basis: &c.basis}}
		share, interval := Share(d, v)
		if share != c.share || interval != c.interval || Amount(d, v) != c.amount {
			t.Errorf("%v of %v to %v: %q, %q, %q; want %q, %q, %q", c.value, c.low, c.high, share, interval, Amount(d, v), c.share, c.interval, c.amount)
		}
	}
}

// Requests that are slow by their own rule are not called hardly any in the same breath.
func TestLongTailWithSlowRequests(t *testing.T) {
	num := func(v float64) *float64 { return &v }
	for slow, want := range map[int]string{
		20:  "p50 2.8 ms, p99 154 ms of 1,480 requests, hardly any much slower than others of its route, and no cause stands out.",
		155: "p50 2.8 ms, p99 154 ms of 1,480 requests; 155 of them (10 %) took at least 3 times as long as the quickest of their route, 6.2 ms on average, and no cause stands out.",
	} {
		d := &diagnose.Diagnosis{Outcome: diagnose.NothingFound, Requests: &diagnose.Requests{Count: 1480, LedgerCount: 1480, Slow: slow, SlowTotalMs: 6.2 * float64(slow),
			SlowRule: "3x_route_floor", P50Ms: num(2.8), P99Ms: num(154)}}
		if got := Nothing(d, nil, nil); !strings.HasPrefix(got, want) {
			t.Errorf("%d slow: %q, want %q", slow, got, want)
		}
	}
}
