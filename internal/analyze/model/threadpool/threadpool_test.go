package threadpool

import (
	"errors"
	"math"
	"testing"
)

// starvation is the load of .NET's tutorial on thread pool starvation: 125 closed
// connections to a handler that waits 500 ms for its database, on 2 processors.
func starvation(version string, p Pattern, least int) Case {
	return Case{Version: version, Cores: 2, Min: least, Pattern: p, Connections: 125, Service: Service{Seconds: .5}, CPU: .0003}
}

// mean is the rate of the first so many seconds.
func (o Outcome) mean(seconds int) float64 {
	var sum float64
	for _, p := range o.Curve[:seconds] {
		sum += p.Rate
	}
	return sum / float64(seconds)
}

// The measured figures are of an ASP.NET Core application on a machine of 2 processors,
// of the longest of two runs each: 3.1.2 for 120 to 240 s, 6 to 10 for 30 s.
func TestPoolMeasured(t *testing.T) {
	for _, tt := range []struct {
		version   string
		pattern   Pattern
		min       int
		rate30    [2]float64 // requests/s in the first 30 s
		rate      float64    // in the end; NaN: not measured
		threads   float64
		growth    float64 // threads/s
		settles   float64 // s
		latencyMs float64
	}{
		{"3.1.2", TaskWait, 2, [2]float64{0, 1}, 250, 145, 1.0, 126, 502},
		{"3.1.2", SleepWait, 2, [2]float64{0, 8}, 248, 142, 1.0, 117, 507},
		{"3.1.2", TaskWait, 200, [2]float64{227, 250}, 250, math.NaN(), math.NaN(), 0, 502},
		{"3.1.2", SleepWait, 200, [2]float64{227, 250}, 248, math.NaN(), math.NaN(), 0, 510},
		{"3.1.2", Await, 2, [2]float64{243, 250}, 248, math.NaN(), math.NaN(), 0, 503},
		{"6.0.1", TaskWait, 2, [2]float64{33, 41}, math.NaN(), math.NaN(), 3.8, math.NaN(), math.NaN()},
		{"8.0.0", TaskWait, 2, [2]float64{33, 41}, math.NaN(), math.NaN(), 3.8, math.NaN(), math.NaN()},
		{"10.0.0", SleepWait, 2, [2]float64{0, 2}, math.NaN(), math.NaN(), 1.0, math.NaN(), math.NaN()},
		{"10.0.0", TaskWait, 200, [2]float64{227, 250}, 244, math.NaN(), math.NaN(), 0, math.NaN()},
		{"10.0.0", Await, 2, [2]float64{243, 250}, 243, math.NaN(), math.NaN(), 0, math.NaN()},
	} {
		o, err := starvation(tt.version, tt.pattern, tt.min).Predict()
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%-6s %-5s min %3d: first 30 s %.1f/s; in the end %.0f/s, %.0f threads, %.0f ms (p99 %.0f); %.2f threads/s; settles after %.0f s; %s",
			tt.version, tt.pattern, tt.min, o.mean(30), o.Rate.Value, o.Threads.Value, o.Latency.Value, o.P99.Value, o.Growth.Value, o.Settles.Value, o.Ends)
		if got := o.mean(30); !(got >= tt.rate30[0]*.75 && got <= tt.rate30[1]*1.25) {
			t.Errorf("%s %s min %d: %.1f requests/s in the first 30 s, measured %v", tt.version, tt.pattern, tt.min, got, tt.rate30)
		}
		for what, v := range map[string][2]float64{
			"requests/s": {o.Rate.Value, tt.rate}, "threads": {o.Threads.Value, tt.threads}, "threads/s": {o.Growth.Value, tt.growth},
			"s until it settles": {o.Settles.Value, tt.settles}, "ms": {o.Latency.Value, tt.latencyMs},
		} {
			if !math.IsNaN(v[1]) && !(math.Abs(v[0]-v[1]) <= .15*v[1]) {
				t.Errorf("%s %s min %d: %.3g %s, measured %.3g", tt.version, tt.pattern, tt.min, v[0], what, v[1])
			}
		}
		if o.Ends != EndsEnough {
			t.Errorf("%s %s min %d ends by %s", tt.version, tt.pattern, tt.min, o.Ends)
		}
	}
}

func TestPoolEnds(t *testing.T) {
	limited := starvation("8.0.0", Call, 2)
	limited.Max = 60
	stuck := starvation("8.0.0", TaskWait, 2)
	stuck.Max = 60
	busy := starvation("8.0.0", Await, 2)
	busy.CPU = .05
	for _, tt := range []struct {
		name string
		c    Case
		ends string
		rate [2]float64
	}{
		{"max", limited, EndsMax, [2]float64{95, 120}}, // 60 threads, 500 ms each; hill climbing tries fewer
		{"stuck", stuck, EndsMax, [2]float64{0, 0}},    // none is left to complete what the others wait for
		{"cpu", busy, EndsCPU, [2]float64{38, 42}},     // 2 processors, 50 ms each
	} {
		o, err := tt.c.Predict()
		if err != nil {
			t.Fatal(err)
		}
		if o.Ends != tt.ends || o.Rate.Value < tt.rate[0] || o.Rate.Value > tt.rate[1] {
			t.Errorf("%s: ends by %s with %.1f requests/s, want %s and %v", tt.name, o.Ends, o.Rate.Value, tt.ends, tt.rate)
		}
	}
}

// The same question has the same answer, and a range around it.
func TestPoolRepeats(t *testing.T) {
	c := starvation("8.0.0", TaskWait, 2)
	a, err := c.Predict()
	if err != nil {
		t.Fatal(err)
	}
	b, _ := c.Predict()
	if a.Rate != b.Rate || a.P99 != b.P99 || len(a.Curve) != len(b.Curve) {
		t.Errorf("two answers: %+v and %+v", a.Rate, b.Rate)
	}
	if !a.Rate.Ranged() || a.Rate.Low > a.Rate.Value || a.Rate.High < a.Rate.Value {
		t.Errorf("range of the rate: %+v", a.Rate)
	}
}

func TestPoolMissing(t *testing.T) {
	full := starvation("8.0.0", TaskWait, 0)
	for _, tt := range []struct {
		change func(*Case)
		want   error
	}{
		{func(c *Case) { c.Service = Service{} }, ErrServiceTime},
		{func(c *Case) { c.Connections = 0 }, ErrConnections},
		{func(c *Case) { c.Cores = 0 }, ErrCores},
	} {
		c := full
		tt.change(&c)
		if _, err := c.Predict(); !errors.Is(err, tt.want) {
			t.Errorf("%+v: %v, want %v", c, err, tt.want)
		}
	}
	for _, change := range []func(*Case){
		func(c *Case) { c.Version = "" },
		func(c *Case) { c.Version = "2.1.30" },
		func(c *Case) { c.Min, c.Max = 50, 20 },
	} {
		c := full
		change(&c)
		if _, err := c.Predict(); err == nil {
			t.Errorf("%+v: no error", c)
		}
	}
}
