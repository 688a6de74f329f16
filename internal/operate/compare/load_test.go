package compare

import (
	"strings"
	"testing"
	"time"
)

func TestLoads(t *testing.T) {
	share := func(v float64) *float64 { return &v }
	closed := Load{Mode: "closed", LatencyFrom: "send", Rate: 900, Connections: 64, Duration: 10 * time.Second, Sent: 9000}
	came := Load{LatencyFrom: "server", Arrivals: true, Rate: 300, Duration: time.Minute, Sent: 18000, Routes: map[string]float64{"GET /a": .7, "GET /b": .3}}
	with := func(l Load, change func(*Load)) Load { change(&l); return l }
	for _, tt := range []struct {
		name          string
		before, after Load
		why           string // "": comparable
		warning       string
	}{
		{"alike", open(500), open(500), "", ""},
		{"within 2 %", open(500), open(508), "", ""},
		{"another rate", open(500), open(512), "offered rate 500/s before, 512/s after", ""},
		{"another host is the point", open(500), with(open(500), func(l *Load) { l.URL = "http://10.0.0.1:9090" }), "", ""},
		{"another path", open(500), with(open(500), func(l *Load) { l.URL = "http://127.0.0.1:8080/fast" }), "path / before, /fast/ after", ""},
		{"another mode", open(500), closed, "open loop before, closed loop after", ""},
		{"another clock", open(500), with(open(500), func(l *Load) { l.LatencyFrom = "send" }), "latency is measured from the scheduled send time before, from the actual send time after", ""},
		{"more connections", closed, with(closed, func(l *Load) { l.Connections = 65 }), "64 connections before, 65 after", ""},
		{"a faster closed loop", closed, with(closed, func(l *Load) { l.Rate = 1800; l.Sent = 18000 }), "", ""},
		{"shorter", open(500), with(open(500), func(l *Load) { l.Duration = 7 * time.Second }), "10s before, 7s after", ""},
		{"over capacity", open(500), with(open(500), func(l *Load) { l.Rate = 400 }), "", "100 % of the offered requests were served before, 80 % after: the service was over capacity after the change"},
		{"over the generator's", open(500), with(open(500), func(l *Load) { l.Rate, l.Limited = 400, true }), "100 % of the offered requests were served before, 80 % after: one of them", "did not keep its schedule"},
		{"over capacity, counted from the send", with(open(500), func(l *Load) { l.LatencyFrom = "send" }), with(open(500), func(l *Load) { l.LatencyFrom, l.Rate = "send", 400 }),
			"100 % of the offered requests were served before, 80 % after: one of them", ""},
		{"both over it, alike", with(open(500), func(l *Load) { l.Rate = 401 }), with(open(500), func(l *Load) { l.Rate = 400 }), "", ""},
		{"failing", open(500), with(open(500), func(l *Load) { l.Failed = 60 }), "failed requests 0 % before, 1.2 % after", ""},
		{"failing over capacity", with(open(500), func(l *Load) { l.Rate, l.Failed = 400, 60 }), open(500), "", "a service over capacity fails some"},
		{"failing over capacity after the change", open(500), with(open(500), func(l *Load) { l.Rate, l.Failed = 400, 60 }), "failed requests 0 % before, 1.2 % after", "over capacity after the change"},
		{"failing while the other is over capacity", with(open(500), func(l *Load) { l.Rate = 400 }), with(open(500), func(l *Load) { l.Failed = 60 }), "failed requests 0 % before, 1.2 % after", "over capacity before the change"},
		{"failing a little", open(500), with(open(500), func(l *Load) { l.Failed = 40 }), "", ""},
		{"neighbours", with(open(500), func(l *Load) { l.Others = share(.4) }), with(open(500), func(l *Load) { l.Others = share(.1) }),
			"the host's CPUs used by other processes 40 % before, 10 % after", ""},
		{"better in spite of neighbours", with(open(500), func(l *Load) { l.Others = share(.1) }), with(open(500), func(l *Load) { l.Others = share(.4) }),
			"", "what improved did so in spite of it"},
		{"neighbours and another rate", with(open(500), func(l *Load) { l.Others = share(.1) }), with(open(520), func(l *Load) { l.Others = share(.4) }),
			"offered rate 500/s before, 520/s after", ""},
		{"neighbours not known", with(open(500), func(l *Load) { l.Others = share(.1) }), open(500), "", ""},
		{"a lagging generator", open(500), with(open(500), func(l *Load) { l.Limited = true }), "", "did not keep its schedule"},
		{"what came by itself", came, with(came, func(l *Load) { l.Rate = 320 }), "", "the load was not controlled"},
		{"more came", came, with(came, func(l *Load) { l.Rate = 340 }), "300/s requests before, 340/s after", ""},
		{"others came", came, with(came, func(l *Load) { l.Routes = map[string]float64{"GET /a": .6, "GET /b": .3, "GET /c": .1} }),
			"10 % of the requests go to different routes: GET /", ""},
		{"a mix within sampling", came, with(came, func(l *Load) { l.Routes = map[string]float64{"GET /a": .72, "GET /b": .28} }), "", ""},
		{"one side not known", open(500), Load{}, "", "the load is known for one side only"},
	} {
		var before, after []Run
		for i := range 6 {
			at := noon.Add(time.Duration(i) * time.Hour)
			before = append(before, Run{Name: "b", Start: at, Load: tt.before, Metrics: map[string]float64{"p99_ms": 10}})
			after = append(after, Run{Name: "a", Start: at.Add(30 * time.Minute), Load: tt.after, Metrics: map[string]float64{"p99_ms": 5}})
		}
		c, err := Compare(before, after, Options{})
		if err != nil {
			t.Fatal(tt.name, err)
		}
		if c.Refused() != (tt.why != "") || !strings.Contains(c.Why, tt.why) {
			t.Errorf("%s: refused is %v: %q, want %q", tt.name, c.Refused(), c.Why, tt.why)
		}
		if c.Refused() && (len(c.Metrics) != 0 || len(c.Regressed()) != 0) {
			t.Errorf("%s: refused, and yet %+v", tt.name, c.Metrics)
		}
		if warned := strings.Contains(strings.Join(c.Warnings, "\n"), tt.warning); !warned || tt.warning == "" && len(c.Warnings) > 0 && tt.before.Mode == "open" && tt.after.Mode != "" {
			t.Errorf("%s: warnings %q, want %q", tt.name, c.Warnings, tt.warning)
		}
	}
}

// Other processes on the host make requests slower, never faster: only what they cannot have made is decided.
func TestNeighboursDecideOneWay(t *testing.T) {
	for _, tt := range []struct {
		name               string
		before, after      float64 // share of the host's CPUs used by others
		p99, other, gc     float64 // after; 10 before
		refused            bool
		wantP99, wantOther string
	}{
		{"better on the busier host", .1, .5, 5, 20, 5, false, Improved, Unclear},
		{"worse on the busier host", .1, .5, 20, 20, 5, true, "", ""},
		{"better on the quieter host", .5, .1, 5, 5, 5, true, "", ""},
		{"worse on the quieter host", .5, .1, 20, 5, 5, false, Regressed, Unclear},
		{"the same on the busier host", .1, .5, 10, 10, 5, true, "", ""},
	} {
		before, after := series("p99_ms", 10, 10, 10, 10, 10, 10), series("p99_ms", tt.p99, tt.p99, tt.p99, tt.p99, tt.p99, tt.p99)
		for i := range before {
			before[i].Load.Others, after[i].Load.Others = &tt.before, &tt.after
			before[i].Metrics["p50_ms"], after[i].Metrics["p50_ms"] = 10, tt.other
			before[i].Metrics["gc_cycles_per_s"], after[i].Metrics["gc_cycles_per_s"] = 10, tt.gc
		}
		c, err := Compare(before, after, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if c.Refused() != tt.refused {
			t.Errorf("%s: refused is %v: %s", tt.name, c.Refused(), c.Why)
			continue
		}
		if tt.refused {
			continue
		}
		p99, _ := c.Of("p99_ms")
		p50, _ := c.Of("p50_ms")
		gc, _ := c.Of("gc_cycles_per_s")
		if p99.Result != tt.wantP99 || p50.Result != tt.wantOther || gc.Result != Unclear {
			t.Errorf("%s: p99 %s, p50 %s, GC cycles %s", tt.name, p99.Result, p50.Result, gc.Result)
		}
		if p50.Why == "" || p50.Moved != nil {
			t.Errorf("%s: unclear without a reason: %+v", tt.name, p50)
		}
	}
}

func TestAnUnknownLoadDecidesNothing(t *testing.T) {
	before, after := series("gc_cycles_per_s", 9, 9, 9, 9, 9, 9), series("gc_cycles_per_s", 1, 1, 1, 1, 1, 1)
	for i := range before {
		before[i].Load, after[i].Load = Load{}, Load{}
	}
	c, err := Compare(before, after, Options{})
	if err != nil {
		t.Fatal(err)
	}
	m, _ := c.Of("gc_cycles_per_s")
	if c.Comparable != nil || c.Refused() || m.Result != Unclear || m.Change == nil || c.Why == "" {
		t.Errorf("%v %q %+v", c.Comparable, c.Why, m)
	}
}

// Two runs without any request decide nothing about requests, but say which figures changed, and which did not.
func TestAnUnknownLoadTellsWhatChanged(t *testing.T) {
	run := func(share, pause, cores float64) []Run {
		r := Run{Metrics: map[string]float64{"gc_cpu_share": share, "longest_pause_ms": pause, "cpu_cores": cores, "rss_mib": 100}}
		for k := range Quarters {
			f := 1 + .02*float64(k%2)
			r.Parts = append(r.Parts, map[string]float64{"gc_cpu_share": share * f, "longest_pause_ms": pause * (1 + .5*float64(k%2)), "cpu_cores": cores * f, "rss_mib": 100})
		}
		return []Run{r}
	}
	c, err := Compare(run(.54, 20, .5), run(.06, 18, 1.5), Options{FailOn: []string{"all"}})
	if err != nil {
		t.Fatal(err)
	}
	if !c.IsLoadUnknown() || c.Refused() || len(c.Regressed()) > 0 {
		t.Errorf("%v %q %+v", c.Comparable, c.Why, c.Regressed())
	}
	for name, want := range map[string]string{"gc_cpu_share": MovedDown, "cpu_cores": MovedUp, "rss_mib": MovedNowhere, "longest_pause_ms": ""} {
		m, _ := c.Of(name)
		got := ""
		if m.Moved != nil {
			got = *m.Moved
		}
		if got != want || m.Result != Unclear || m.Why == "" || m.Allowed != nil {
			t.Errorf("%s: moved %q, want %q; %s (%s)", name, got, want, m.Result, m.Why)
		}
	}
}

func TestRunsAtTheSameTime(t *testing.T) {
	before, after := series("p99_ms", 1), series("p99_ms", 1)
	c, err := Compare(before, after, Options{})
	if err != nil || len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], "r was given for both sides") {
		t.Errorf("%v %q", err, c.Warnings)
	}
	after[0].Name = "other"
	c, err = Compare(before, after, Options{})
	if err != nil || len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], "r and other were measured at the same time") {
		t.Errorf("%v %q", err, c.Warnings)
	}
}
