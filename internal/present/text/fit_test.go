package text

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/diagnose"
)

// However much there is to say, a report gets as short as it can, step by step, and what is cut says so.
func TestFitted(t *testing.T) {
	render := func(p *page) {
		for range min(100, p.at.evidence) {
			p.writeLine("evidence")
		}
		for range min(100, p.at.ruledOut) {
			p.writeLine("ruled out")
		}
		for range 32 {
			p.writeLine("always")
		}
	}
	count := func(o Options, word string) int { return strings.Count(o.renderFitted(render), word) }
	o := Options{Width: 80}
	if e, r := count(o, "evidence"), count(o, "ruled out"); e != 6 || r != 6 {
		t.Errorf("%d figures and %d that were ruled out, want 6 and 6: 46 lines are one too many", e, r)
	}
	if n := count(Options{Width: 80, Verbose: true}, "ruled out"); n != 100 {
		t.Errorf("all of it has %d", n)
	}
	if n := count(Options{Width: 40}, "ruled out"); n != 8 {
		t.Errorf("a narrow one has %d: it scrolls", n)
	}
	if got := strings.Count(o.renderFitted(func(p *page) { p.writeLine(strings.Repeat("x\n", 99)) }), "x"); got != 99 {
		t.Errorf("what cannot be shorter has %d lines of 99", got)
	}
}

// A step that saves many lines makes up for smaller ones before it, which are then not taken.
func TestStepsThatWereNotNeeded(t *testing.T) {
	out := Options{Width: 80}.renderFitted(func(p *page) {
		for range p.at.commands {
			p.writeLine("command")
		}
		if !p.at.short {
			p.writeLine(strings.Repeat("long\n", 20))
		}
		for range 41 {
			p.writeLine("always")
		}
	})
	if n := strings.Count(out, "command"); n != 4 || strings.Contains(out, "long") {
		t.Errorf("%d commands, want 4:\n%s", n, out)
	}
}

// What does not fit a line takes a second one. Only what is longer still is cut: where a clause ends, or so that the place it is about stays.
func TestTold(t *testing.T) {
	for _, c := range []struct {
		text, want string
		ascii      bool
	}{
		{"short enough", "short enough", false},
		{"60 requests waited (of 4,711 in all) for it", "60 requests waited for it", false},
		{"let faults take a huge page, only where one is free", "let faults take a huge page, only|where one is free", false},
		{"Threads blocked in them on StreamReader.ReadLine", "Threads blocked in them on|StreamReader.ReadLine", false},
		{"let faults take a huge page in time, only where one is free of what others use", "let faults take a huge page in|time…", false},
		{"let faults take a huge page in time, only where one is free of what others use", "let faults take a huge page in|time...", true},
		{"in the whole of the recording 41 of 60 requests blocked at com.example.shop.store.Cache.get and more", "in the whole of the recording 41 of|60 requests… at …store.Cache.get", false},
		{"diagnose the dependency with its own logs and all its metrics; until then, limit the wait within a budget", "diagnose the dependency with its|own logs and all its metrics…", false},
		{"enlarge the pool if it can handle more (needed = requests each second), or hold each for less", "enlarge the pool if it can handle|more, or hold each for less", false},
		{"a word that is followed by one that is longer than " + strings.Repeat("x", 60), "a word that is followed by one that|is longer…", false},
	} {
		p := &page{Options: Options{Width: 40, ASCII: c.ascii}}
		got := p.wrapOrShorten(c.text, 5, true)
		if strings.Join(got, "|") != c.want {
			t.Errorf("%q is told as %q, want %q", c.text, got, c.want)
		}
	}
}

// A ruled-out cause is told whole, and one that is told whole comes before two that are cut.
func TestRuledOutWhole(t *testing.T) {
	verdicts := []diagnose.Verdict{
		{Cause: "service.accept-queue", Summary: "slow requests waited 2.22 s at the service's entrance, which is 0.4 % of their time"},
		{Cause: "service.pool-exhausted", Summary: "no slow request waited for pools"},
		{Cause: "service.row-lock", Summary: "no call waited"},
	}
	for lines, want := range map[int]string{2: "0.4 % of their time\n|and 2 more", 3: "0.4 % of their time\n|waited for pools|no call waited"} {
		p := &page{Options: Options{Width: 80}, at: limits{brief: true, ruledOut: lines}}
		p.ruledOut(verdicts)
		for _, w := range strings.Split(want, "|") {
			if !strings.Contains(p.out.String(), w) {
				t.Errorf("%d lines lack %q:\n%s", lines, w, p.out.String())
			}
		}
	}
}

// What is said of ruled-out causes stands in one column beside the longest that is shown, also where a short one is shown in place of a long one.
func TestRuledOutColumn(t *testing.T) {
	verdicts := []diagnose.Verdict{
		{Cause: "go.gc-rate", Summary: strings.Repeat("a long reason ", 20)},
		{Cause: "dotnet.gc-cpu-starved", Summary: "no quota"},
		{Cause: "service.connection-pool-exhausted", Summary: strings.Repeat("a long reason ", 20)},
	}
	p := &page{Options: Options{Width: 80}, at: limits{brief: true, ruledOut: 1}}
	if p.ruledOut(verdicts); !strings.Contains(p.out.String(), "dotnet.gc-cpu-starved  no quota\n") {
		t.Error(p.out.String())
	}
}

// A command that does not fit behind its label stands alone on a line, whole.
func TestLongCommandStandsAlone(t *testing.T) {
	p := &page{Options: Options{Width: 80}}
	long := "unstall explain " + strings.Repeat("/folder", 9) + "/shop.unstall"
	for want, items := range map[string][]string{
		"one slow request: unstall explain a.unstall · a page: -o report.html": {"one slow request: unstall explain a.unstall", "a page: -o report.html"},
		"one slow request:\n" + long + "\na page: -o report.html":              {"one slow request: " + long, "a page: -o report.html"},
	} {
		if got := strings.Join(p.flowCommands(items, labels), "\n"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A headline names functions as a ledger does: without the path of a package, the assembly and the namespace.
func TestShortenNames(t *testing.T) {
	for text, want := range map[string]string{
		"wait for mutex in github.com/gogf/gf/v2/os/gcache.(*memoryData).SetWithLock.":                "wait for mutex in gcache.(*memoryData).SetWithLock.",
		"busy in shop!Program.Main(HttpContext) (calling System.Linq!Enumerable.Count(Func<T,T,T>)).": "busy in Program.Main(HttpContext) (calling Enumerable.Count(Func<T,T,T>)).",
		"calls to http://10.0.0.7:80/a (GET /b)":                                                      "calls to http://10.0.0.7:80/a (GET /b)",
	} {
		if got := (&page{Options: Options{Width: 80}}).shortenNames(text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if got := (&page{Options: Options{Width: 80, Verbose: true}}).shortenNames(text); got != text {
			t.Errorf("%q, want all of it", got)
		}
	}
}

// A comma stays with what it ends.
func TestFoldAfterComma(t *testing.T) {
	got := (&page{Options: Options{Width: 40}}).foldLines([]string{"Serializer.Generate(Mapping,Type,string,string)"}, 0)
	if want := "Serializer.Generate(Mapping,Type,string,|string)"; strings.Join(got, "|") != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A fix that ends in "here" says where, also where its code has no line.
func TestAlternativeSaysWhere(t *testing.T) {
	p := &page{Options: Options{Width: 80}, at: limits{fixes: 4, short: true}}
	p.writeFixes(&diagnose.Verdict{Fix: []diagnose.Fix{{Text: "reduce load"}, {Text: "or make requests cheaper: most CPU time is spent here", Code: "Outline.fingerprint()"}}}, "FIX", true)
	if want := "or make requests cheaper: most CPU time is spent in Outline.fingerprint()"; !strings.Contains(p.out.String(), want) {
		t.Errorf("%q, want %q", p.out.String(), want)
	}
}
