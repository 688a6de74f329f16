package rule

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"
)

const second = int64(time.Second)

// one returns the rule of a file without other rules.
func one(t *testing.T, text string) []Rule {
	t.Helper()
	rules, err := Load(strings.NewReader("default: none\nrules:\n"+text), "rules.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

// feed adds a value each second and returns the changes, with the seconds.
func feed(e *Evaluator, series string, from, until int64, v func(s int64) float64) (out []Event) {
	for s := from; s < until; s++ {
		e.Add("a", series, s*second, v(s))
		out = append(out, e.At(s*second)...)
	}
	return out
}

func begin(rules []Rule, usual *Usual) *Evaluator {
	e := New(rules, usual)
	e.Begin(Subject{Key: "a", Service: "gateway"}, 0)
	return e
}

// TestMinimum checks that a rule must hold for its time, that an alarm ends below its bound and not at it, and that a value
// swinging about the bound gives one alarm.
func TestMinimum(t *testing.T) {
	rules := one(t, "- {id: x, title: x, series: jvm/gc-time, over: 1s, above: 10, for: 20s, clear-for: 30s}\n")
	e := begin(rules, nil)
	got := feed(e, "jvm/gc-time", 0, 400, func(s int64) float64 {
		switch {
		case s < 50: // shorter than the minimum, repeatedly
			return map[bool]float64{true: 50, false: 0}[s%20 < 19]
		case s < 100:
			return 0
		case s < 200: // around the bound
			return map[bool]float64{true: 11, false: 9.5}[s%3 > 0 || s < 125]
		}
		return 1
	})
	if len(got) != 2 || !got[0].Fired || got[1].Fired {
		t.Fatalf("got %+v, want one alarm and its end", got)
	}
	if at := got[0].At / second; at != 120 {
		t.Errorf("fired after %d s, want 120", at)
	}
	if at := got[1].At / second; at != 230 {
		t.Errorf("ended after %d s, want 230", at)
	}
	if got[0].Since != 100*second || got[1].Since != got[0].At {
		t.Errorf("since %d and %d", got[0].Since/second, got[1].Since/second)
	}
}

// TestUnknown checks that a missing figure neither begins nor ends an alarm at once, but that an alarm ends if figures stay
// missing.
func TestUnknown(t *testing.T) {
	e := begin(one(t, "- {id: x, title: x, series: jvm/gc-time, over: 1s, above: 10, for: 5s, clear-for: 30s}\n"), nil)
	got := feed(e, "jvm/gc-time", 0, 10, func(int64) float64 { return 50 })
	for s := int64(10); s < 100; s++ {
		got = append(got, e.At(s*second)...)
	}
	if len(got) != 2 || got[1].Why == "" || got[1].At < 40*second {
		t.Fatalf("got %+v, want an alarm that ends long after its figures", got)
	}
	e = begin(e.Rules, nil)
	got = feed(e, "jvm/gc-time", 0, 10, func(int64) float64 { return 50 })
	got = append(got, e.End("a", 12*second, "the process has ended")...)
	if len(got) != 2 || got[1].Why != "the process has ended" {
		t.Fatalf("got %+v, want an alarm that ends with the process", got)
	}
}

// TestClock checks that setting a clock neither ends nor begins an alarm.
func TestClock(t *testing.T) {
	e := begin(one(t, "- {id: x, title: x, series: jvm/gc-time, over: 5s, above: 10, for: 20s}\n"), nil)
	sick := func(int64) float64 { return 50 }
	if got := feed(e, "jvm/gc-time", 10_000, 10_015, sick); len(got) != 0 {
		t.Fatalf("got %+v before its time", got)
	}
	if got := feed(e, "jvm/gc-time", 6_000, 6_015, sick); len(got) != 0 {
		t.Fatalf("back by an hour: got %+v before its time", got)
	}
	if got := feed(e, "jvm/gc-time", 20_000, 20_015, sick); len(got) != 0 {
		t.Fatalf("on by hours: got %+v before its time", got)
	}
	if got := feed(e, "jvm/gc-time", 20_015, 20_040, sick); len(got) != 1 || !got[0].Fired {
		t.Fatalf("got %+v, want an alarm", got)
	}
	if got := feed(e, "jvm/gc-time", 10_000, 10_030, sick); len(got) != 0 {
		t.Fatalf("back while it holds: got %+v, want it to go on", got)
	}
}

// day20 is the size of a heap that varies over the day, and is larger at weekends.
func day20(s int64) float64 {
	d := s / 86400
	base := 100e6 + 40e6*math.Sin(float64(s%86400)/86400*2*math.Pi)
	if d%7 > 4 {
		base *= .6
	}
	return base + float64(s*7919%1000)*1e4
}

// TestUsual checks that the usual value is the median of the days' maxima. 20 stable days set off nothing. One bad day sets
// off an alarm and does not become usual. Restarts of the watcher forget nothing.
func TestUsual(t *testing.T) {
	rules := one(t, "- {id: x, title: x, series: System.Runtime/loh-size, over: 1m, above: 1.5, usual: {days: 14}, for: 2m}\n")
	began := time.Now()
	usual := new(Usual)
	e := begin(rules, usual)
	minute := func(from, until int64, v func(int64) float64) (out []Event) {
		for s := from; s < until; s += 60 {
			e.Add("a", "System.Runtime/loh-size", s*second, v(s))
			out = append(out, e.At(s*second)...)
		}
		return out
	}
	const d = 86400
	if got := minute(d, 21*d, day20); len(got) != 0 {
		t.Fatalf("20 stable days: %+v", got)
	}
	text, err := json.Marshal(usual) // as on a restart
	if err != nil {
		t.Fatal(err)
	}
	again := new(Usual)
	if err := json.Unmarshal(text, again); err != nil {
		t.Fatal(err)
	}
	e = begin(rules, again)
	got := minute(21*d, 22*d, func(s int64) float64 { return 2 * day20(s) })
	if len(got) == 0 || !got[0].Fired || math.IsNaN(got[0].Usual) || math.Abs(got[0].Bound/got[0].Usual-1.5) > 1e-9 {
		t.Fatalf("a bad day: %+v", got)
	}
	got = append(got, minute(23*d, 24*d, day20)...)
	if last := got[len(got)-1]; last.Fired || last.At > 23*d*second+int64(time.Hour) {
		t.Fatalf("the day after: %+v, want the end of the alarm", last)
	}
	if got := minute(24*d, 25*d, func(s int64) float64 { return 2 * day20(s) }); len(got) == 0 {
		t.Fatal("one bad day became usual")
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("took %s", took)
	}
	again.Forget(24*d*second + int64(mostDays+5)*d*second)
	if len(again.Maxima) != 0 {
		t.Errorf("remembers %v for ever", again.Maxima)
	}
}

// TestPeriod checks that a periodic series is told from an irregular one.
func TestPeriod(t *testing.T) {
	rules := one(t, "- {id: x, title: x, series: requests/slow, over: 1s, period: {least: 10s, most: 15m, times: 5, above: 1}}\n")
	run := func(v func(s int64) float64) []Event { return feed(begin(rules, nil), "requests/slow", 0, 1800, v) }
	if got := run(func(s int64) float64 { // a stall of two seconds each minute, and occasional slow requests
		switch {
		case s%60 < 2:
			return 40
		case s%17 == 0:
			return 1
		}
		return 0
	}); len(got) == 0 || math.Abs(got[0].Value-60) > 2 {
		t.Errorf("each minute: %+v, want a period of 60 s", got)
	} else if got[0].At > 300*second {
		t.Errorf("found after %d s", got[0].At/second)
	}
	random := uint64(1)
	if got := run(func(int64) float64 {
		random = random*6364136223846793005 + 1442695040888963407
		if random>>58 == 0 {
			return 30
		}
		return 0
	}); len(got) != 0 {
		t.Errorf("by chance: %+v", got)
	}
	if got := run(func(int64) float64 { return 30 }); len(got) != 0 {
		t.Errorf("all the time: %+v", got)
	}
}

// TestClimb checks that growth is told from jumps and swings.
func TestClimb(t *testing.T) {
	rules := one(t, "- {id: x, title: x, series: proc/threads, take: climb, over: 15s, above: 0.5, for: 3s}\n")
	run := func(v func(s int64) float64) []Event { return feed(begin(rules, nil), "proc/threads", 0, 120, v) }
	if got := run(func(s int64) float64 { return 20 + float64(max(0, s-30)) }); len(got) == 0 || got[0].At > 50*second {
		t.Errorf("one a second: %+v", got)
	}
	if got := run(func(s int64) float64 { return map[bool]float64{true: 20, false: 90}[s < 40] }); len(got) != 0 {
		t.Errorf("a jump: %+v", got)
	}
	if got := run(func(s int64) float64 { return 20 + float64(s%10)*3 }); len(got) != 0 {
		t.Errorf("a saw: %+v", got)
	}
}

// TestMistakes checks that a mistake in a file is one line with its place and the correct form.
func TestMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"": "r.yaml: is empty: give rules, as unstall watch --print-rules writes them",
		"rules:\n- id: a\n  title: a\n  series: System.Runtime/loh-szie\n  above: 1\n": "r.yaml:2: a: unknown series System.Runtime/loh-szie: do you mean System.Runtime/loh-size? (unstall watch --series lists them)",
		"rules:\n- {id: a, title: a, series: proc/cpu, abvoe: 1}\n":                    "r.yaml:2: a rule has no field abvoe: do you mean above?",
		"rules:\n- {id: a, title: a, series: proc/cpu, above: 1, for: 10}\n":           `r.yaml: "10" is not a time: give 10s, 5m or 2h`,
		"rules:\n- {id: a, title: a, series: proc/cpu}\n":                              "r.yaml:2: a: proc/cpu: give one of above, below and period",
		"rules:\n- {id: a, title: a, series: proc/cpu, above: 5, clear: 9}\n":          "r.yaml:2: a: clear 9 is above 5, where it begins: give less",
		"without: [jvm.ful-gc]\n": "r.yaml: without: unknown rule jvm.ful-gc: do you mean jvm.full-gc?",
		"rules: [\n":              "r.yaml:1: did not find expected node content",
	} {
		_, err := Load(strings.NewReader(text), "r.yaml", nil)
		if err == nil || err.Error() != want {
			t.Errorf("%q:\n got %v\nwant %s", text, err, want)
		}
	}
}

// TestOwn checks that a file adds rules to the shipped ones, changes one by its ID, and leaves some out.
func TestOwn(t *testing.T) {
	shipped, err := Shipped()
	if err != nil {
		t.Fatal(err)
	}
	rules, err := Load(strings.NewReader("without: [go.assist]\nrules:\n- {id: jvm.gc-time, title: x, series: jvm/gc-time, above: 30}\n- {id: mine, title: y, series: expvar/queue, above: 5}\n"), "r.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(rules) != len(shipped) {
		t.Errorf("%d rules, want %d", len(rules), len(shipped))
	}
	for _, r := range rules {
		if r.ID == "go.assist" || r.ID == "jvm.gc-time" && *r.Above != 30 {
			t.Errorf("%+v", r)
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(string(ShippedText()))
	f.Add("rules:\n- {id: a, title: a, series: proc/cpu, above: 5, usual: {days: 3}}\n")
	f.Fuzz(func(t *testing.T, text string) {
		rules, err := Load(strings.NewReader(text), "r.yaml", nil)
		if err != nil {
			return
		}
		e := begin(rules, nil)
		for _, r := range rules {
			for s := int64(0); s < 3; s++ {
				e.Add("a", r.Series, s*second, float64(s))
			}
		}
		e.At(3 * second)
	})
}
