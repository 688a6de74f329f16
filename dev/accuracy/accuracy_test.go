//go:build linux

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unstall/unstall/internal/base/goldentest"
	"github.com/unstall/unstall/internal/diagnose"
)

// planned are ids of checks that stacks name and that do not exist yet.
var planned = []string{"service.chatty-calls", "service.row-lock", "service.blocked-loop", "service.retry-storm", "service.cache-stampede"}

// TestServices reads the known answer of every service and checks that it names existing
// causes and that the service's programs exist.
func TestServices(t *testing.T) {
	var services []service
	for _, dir := range []string{"accuracy", "accuracy/blind", "stacks"} {
		of, err := readServices(filepath.Join("..", "..", "lab", filepath.FromSlash(dir)))
		if err != nil {
			t.Fatal(err)
		}
		services = append(services, of...)
	}
	for _, s := range services {
		for _, id := range s.Known.unknownCauses() {
			if slices.Contains(planned, id) {
				continue
			}
			t.Errorf("%s: unknown cause %q: unstall causes lists them", s.Name, id)
		}
		for _, p := range s.Known.allPrograms() {
			var want string
			switch {
			case p.Runtime == "go":
				want = s.Dir
				if p.Program != "" {
					want = filepath.Join(filepath.Dir(s.Dir), p.Program)
				}
			case p.Runtime == "c":
				want = filepath.Join(s.Dir, or(p.Program, "main.c"))
			case p.Runtime == "rust":
				want = filepath.Join(s.Dir, or(p.Program, "main.rs"))
				if _, err := os.Stat(filepath.Join(s.Dir, "Cargo.lock")); err == nil {
					want = filepath.Join(s.Dir, "Cargo.toml")
				}
			case p.Runtime == "nginx":
				want = filepath.Join(s.Dir, or(p.Program, "nginx.conf"))
			case p.Runtime == "php":
				want = filepath.Join(s.Dir, or(p.Program, "fpm.conf"))
			case p.Runtime == "node":
				want = filepath.Join(s.Dir, or(p.Program, "main.js"))
			case p.Runtime == "python":
				want = filepath.Join(s.Dir, or(p.Program, "main.py"))
			case p.Runtime == "postgres", p.Runtime == "mariadb":
				want = filepath.Join(s.Dir, or(p.Program, "schema.sql"))
			case strings.HasPrefix(p.Runtime, "jvm"):
				want = filepath.Join(s.Dir, or(p.Program, "Main.java"))
			case strings.HasPrefix(p.Runtime, "dotnet"):
				want = filepath.Join(s.Dir, or(p.Program, s.folderName()+".csproj"))
			default:
				continue
			}
			if _, err := os.Stat(want); err != nil {
				t.Errorf("%s: %v", s.Name, err)
			}
		}
	}
}

func or(name, otherwise string) string {
	if name != "" {
		return name
	}
	return otherwise
}

func TestChosenServices(t *testing.T) {
	names := func(o options, earlier ...Case) (all []string) {
		o.dir, o.only, o.runs = filepath.Join("..", "..", "lab", "accuracy"), regexp.MustCompile(""), max(1, o.runs)
		chosen, err := chosenServices(o, earlier)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range chosen {
			all = append(all, s.Name)
		}
		return all
	}
	byName, drawn := names(options{}), names(options{draw: 7})
	if slices.Equal(byName, drawn) || !slices.Equal(byName, slices.Sorted(slices.Values(drawn))) {
		t.Error("-draw does not give the same services in another order")
	}
	earlier := []Case{{Service: drawn[0], Run: 1}, {Service: drawn[1], Run: 1}}
	if got := names(options{draw: 7, take: 3}, earlier...); !slices.Equal(got, drawn[2:5]) {
		t.Errorf("after a sitting with the first two -take 3 gives %v, not %v", got, drawn[2:5])
	}
	if got := names(options{draw: 7, take: 3, runs: 2}, earlier...); !slices.Equal(got, drawn[:3]) {
		t.Errorf("with a run still to make, -take 3 gives %v, not %v", got, drawn[:3])
	}
}

func TestSittings(t *testing.T) {
	name := filepath.Join(t.TempDir(), "sittings.jsonl")
	if got, err := readSittings(name); err != nil || got != nil {
		t.Fatalf("before the first sitting: %v, %v", got, err)
	}
	first := []Case{{Service: "a", Run: 1, Found: []string{"go.gc-rate"}}, {Service: "b", Run: 1, Error: "it ended too early"}, {Service: "c", Run: 1, Skipped: "no such program here"}}
	for _, c := range first {
		if err := addToSittings(name, c); err != nil {
			t.Fatal(err)
		}
	}
	earlier, err := readSittings(name)
	if err != nil || len(earlier) != 2 || findCase(earlier, "b", 1) >= 0 {
		t.Fatalf("kept: %v, %v: the service that failed is run again", earlier, err)
	}
	both := joinSittings(earlier, []Case{{Service: "b", Run: 1}, {Service: "a", Run: 1, Found: []string{"go.gc-assist"}}})
	if len(both) != 3 || both[0].First() != "go.gc-assist" || earlier[0].First() != "go.gc-rate" {
		t.Errorf("joined: %v", both)
	}
	if err := os.WriteFile(name, []byte("{}\n{\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readSittings(name); err == nil || !strings.Contains(err.Error(), "sittings.jsonl:2") {
		t.Errorf("a torn line: %v", err)
	}
}

func TestParseKnownRefuses(t *testing.T) {
	sound := `{"about": "a", "runtime": "go", "load": [{"rate": 1, "paths": ["/"]}], "answer": {"first": ["go.gc-rate"]}}`
	if _, err := parseKnown([]byte(sound)); err != nil {
		t.Fatal(err)
	}
	for wrong, want := range map[string]string{
		strings.Replace(sound, `"answer"`, `"anser"`, 1):                                   "unknown field",
		strings.Replace(sound, `"go"`, `"perl"`, 1):                                        "runtime",
		strings.Replace(sound, `"runtime"`, `"runtimes": ["dotnet9"], "runtime"`, 1):       "give one of them",
		strings.Replace(sound, `"runtime": "go"`, `"runtimes": ["dotnet9", "dotnet9"]`, 1): "twice",
		strings.Replace(sound, `"runtime": "go"`, `"runtimes": ["dotnet31", "mono"]`, 1):   "mono",
		strings.Replace(sound, `"rate": 1`, `"rate": 0`, 1):                                "closed loop",
		strings.Replace(sound, `["/"]`, `["/"], "to": "db"`, 1):                            "nothing beside",
		strings.Replace(sound, `"about"`, `"healthy": true, "about"`, 1):                   "nothing may be found",
		strings.Replace(sound, `["go.gc-rate"]`, `[]`, 1):                                  "not healthy",
		strings.Replace(sound, `"about"`, `"record": "20 minutes", "about"`, 1):            "duration",
		strings.Replace(sound, `"about"`, `"beside": [{"name": ""}], "about"`, 1):          "name of its own",
		strings.Replace(sound, `"about"`, `"recorded": ["db"], "about"`, 1):                "nothing beside",
		strings.Replace(sound, `"about"`, `"quota": 1, "iops": 50, "about"`, 1):            "one of them",
		strings.Replace(sound, `"about"`, `"memory": -1, "about"`, 1):                      "MiB",
	} {
		if _, err := parseKnown([]byte(wrong)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one that says %q", wrong, err, want)
		}
	}
}

// TestOnEach expands a service that is for several runtimes into one for each.
func TestOnEach(t *testing.T) {
	s := service{Name: "tea", Dir: "lab/tea", Known: Known{About: "tea", Runtimes: []string{"dotnet31", "dotnet9"}}}
	var got []string
	for _, one := range s.onEach() {
		got = append(got, one.Name+" "+one.Known.Runtime+" "+one.folderName()+" "+fileStem(one.Name, 2))
	}
	if d := cmp.Diff([]string{"tea/dotnet31 dotnet31 tea tea-dotnet31-2", "tea/dotnet9 dotnet9 tea tea-dotnet9-2"}, got); d != "" {
		t.Error(d)
	}
}

// TestStack expands a stack into its variants, each with its keys in place of the stack's, and
// each with a twin without the fault.
func TestStack(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	sum := strings.Repeat("0123456789abcdef", 4)
	write("jars.txt", sum+"  org/tea/tea/1/tea-1.jar\n")
	write("processors.txt", sum+"  org/tea/strainer/1/strainer-1.jar\n")
	write("stack.json", `{"about": "tea", "runtime": "jvm17", "flags": ["-Xmx400m"], "env": {"CUPS": "2"},
		"beside": [{"name": "db", "runtime": "postgres", "program": "../tea.sql", "args": ["-a"]}],
		"load": [{"rate": 1, "paths": ["/"]}],
		"variants": {
			"well": {"healthy": true},
			"tight": {"flags": ["-Xmx4m"], "env": {"SUGAR": "1"}, "quota": 0.5, "answer": {"first": ["jvm.full-gc"], "never": ["jvm.safepoint"], "unsaid": ["milk"]}}}}`)
	all, err := readStack(dir)
	if err != nil || len(all) != 2 {
		t.Fatalf("%d variants, error %v", len(all), err)
	}
	tight, well := all[0], all[1]
	if want := filepath.Base(dir) + "/tight"; tight.Name != want {
		t.Errorf("its name is %s, not %s", tight.Name, want)
	}
	if d := cmp.Diff(map[string]string{"CUPS": "2", "SUGAR": "1", "FAULT": "tight"}, tight.Known.Env); d != "" {
		t.Errorf("environment: %s", d)
	}
	if d := cmp.Diff([]jar{{URL: central + "org/tea/tea/1/tea-1.jar", SHA256: sum}}, tight.Known.Jars); d != "" {
		t.Errorf("jars: %s", d)
	}
	if d := cmp.Diff([]jar{{URL: central + "org/tea/strainer/1/strainer-1.jar", SHA256: sum}}, tight.Known.Processors); d != "" {
		t.Errorf("processors: %s", d)
	}
	if got := well.Known.Env["FAULT"] + well.Known.Beside[0].Env["FAULT"]; got != "offoff" {
		t.Errorf("the healthy one and its database are told FAULT=%s", got)
	}
	twin := tight.withoutFault().Known
	if d := cmp.Diff([]string{"-Xmx400m"}, twin.Flags); d != "" || twin.Quota != 0 || twin.Env["FAULT"] != off || twin.Env["SUGAR"] != "1" || twin.Beside[0].Env["FAULT"] != off {
		t.Errorf("without its fault: %+v %s", twin, d)
	}
	write("jars.txt", "tea.jar\n")
	if _, err := readStack(dir); err == nil || !strings.Contains(err.Error(), "sha256sum") {
		t.Errorf("a list of jars without sums: error %v", err)
	}
	write("stack.json", `{"about": "tea", "variants": {"well": {"helthy": true}}}`)
	if _, err := readStack(dir); err == nil || !strings.Contains(err.Error(), "helthy") {
		t.Errorf("a key that nothing reads: error %v", err)
	}
	write("stack.json", `{"about": "tea", "runtime": "go"}`)
	if _, err := readStack(dir); err == nil || !strings.Contains(err.Error(), "variants") {
		t.Errorf("a stack without variants: error %v", err)
	}
}

// TestSick compares verdicts with answers that demand or forbid words.
func TestSick(t *testing.T) {
	k := &Kept{Known: &Known{Answer: answer{First: []string{"a"}, Names: []string{"milk|$ADDR_DB"}, Never: []string{"c"}, Unsaid: []string{"sugar"}}}, Addresses: map[string]string{"db": "127.0.0.1:5"}}
	for _, x := range []struct {
		found []string
		title string
		right bool
		why   string
	}{
		{found: []string{"a", "b"}, title: "waits for 127.0.0.1:5", right: true, why: "also b"},
		{found: []string{"a"}, title: "waits for tea", why: "does not name milk or 127.0.0.1:5"},
		{found: []string{"a"}, title: "milk: add sugar", why: "it says sugar"},
		{found: []string{"a", "c"}, title: "milk", why: "it also says c"},
		{found: []string{"b", "a"}, title: "milk", why: "milk"},
	} {
		c := Case{Found: x.found, Title: x.title}
		files := []diagnose.Evidence{{Text: "calls", Origin: "milk.unstall", Source: "sugar.txt"}} // their names say nothing
		c.judgeSick(&diagnose.Diagnosis{Verdicts: []diagnose.Verdict{{Title: x.title, Evidence: files}}}, k)
		if c.Right != x.right || !strings.Contains(c.Why, x.why) {
			t.Errorf("%v %q: right %v, %q", x.found, x.title, c.Right, c.Why)
		}
	}
}

// TestPageWithoutRows checks that a page shows beside each service what was found without rows.
func TestPageWithoutRows(t *testing.T) {
	r := resultOf([]Case{
		{Service: "gin/pool", Run: 1, Expected: []string{"service.pool-exhausted"}, Found: []string{"service.pool-exhausted"}, Right: true, Rows: true, Bare: &Case{Found: []string{}, Why: "nothing found"}},
		{Service: "gin/healthy", Run: 1, Healthy: true, Found: []string{}, Right: true, Rows: true, Bare: &Case{Healthy: true, Found: []string{"go.gc-rate"}, FalseAlarm: true}},
	})
	r.Lead = "# Stacks"
	if d := cmp.Diff([]string{"gin/healthy"}, r.FalseAlarms); d != "" {
		t.Error(d)
	}
	var page bytes.Buffer
	if err := r.writeMarkdown(&page); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"# Stacks\n", "| 0 % (0 of 1 recordings) |", "| service.pool-exhausted | service.pool-exhausted | right | — | — | nothing: **wrong**: nothing found |"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page does not say %q:\n%s", want, page.String())
		}
	}
}

func TestArguments(t *testing.T) {
	d := demand{Rate: 20, Poisson: true, Paths: []string{"/a", "/b"}, Spike: "5x@4s,2s", Method: "POST", Body: "{}"}
	want := "load http://host:1/a -d 3s --seed 2 --path /a --path /b -r 20 --poisson -X POST --body {} --spike 5x@4s,2s"
	if got := strings.Join(d.loadArgs("host:1", 3*time.Second, false, 2), " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	want = "load http://host:1/a -d 3s --seed 1 -r 10"
	if got := strings.Join(demand{Ramp: "10:400", Paths: []string{"/a"}}.loadArgs("host:1", 3*time.Second, true, 1), " "); got != want {
		t.Errorf("warming up: got  %s\nwant %s", got, want)
	}
}

// TestPage compares the page made of invented cases with the one that was read.
func TestPage(t *testing.T) {
	share := func(v float64) *float64 { return &v }
	memory := int64(8 << 30)
	r := resultOf([]Case{
		{Service: "chain", Run: 1, Rows: true, About: "a pool whose holders wait for GC", Expected: []string{"go.gc-rate"}, Found: []string{"go.gc-rate", "service.pool-exhausted"}, Right: true, Why: "also service.pool-exhausted", Unknown: share(.04), Seconds: 27.3},
		{Service: "chain", Run: 2, About: "a pool whose holders wait for GC", Expected: []string{"go.gc-rate"}, Found: []string{"service.pool-exhausted"}, Why: "All 4 connections are in use", Unknown: share(.3), Seconds: 27.1, Others: .31},
		{Service: "mutex", Run: 1, About: "one lock | around everything", Expected: []string{"go.lock-contention"}, Found: []string{}, Why: "nothing found", Unknown: share(.9), Seconds: 26},
		{Service: "mutex", Run: 2, About: "one lock | around everything", Expected: []string{"go.lock-contention"}, Found: []string{}, Why: "nothing found", Unknown: share(.8), Seconds: 26},
		{Service: "poll", Run: 1, About: "a long poll", Healthy: true, Expected: []string{}, Found: []string{}, Right: true, Seconds: 25},
		{Service: "poll", Run: 2, About: "a long poll", Healthy: true, Expected: []string{}, Found: []string{"service.dependency-slow"}, FalseAlarm: true, Why: "nothing is wrong with it: Waits for the bus", Seconds: 25},
		{Service: "gone", Run: 1, About: "needs a table", Expected: []string{"go.gc-rate"}, Found: []string{}, Error: "gone ended: exit status 1:\nno such table"},
		{Service: "cc", Run: 1, About: "in C", Healthy: true, Expected: []string{}, Found: []string{}, Skipped: "not on this host: a C compiler (cc)"},
	})
	r.Date, r.Tool, r.Machine = time.Date(2026, 11, 22, 14, 0, 0, 0, time.UTC), "v1.2.3", Machine{CPUs: 2, Memory: &memory, Kernel: "Linux 6.1", Arch: "amd64", Go: "go1.26"}
	if r.Pass {
		t.Error("it passes with a false alarm")
	}
	var got bytes.Buffer
	if err := r.writeMarkdown(&got); err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "page.md")
	if *goldentest.Update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")); d != "" {
		t.Errorf("%s differs; if the new one is right: %s\n%s", golden, goldentest.Command(), d)
	}
}

// TestPageAgain checks that a page of kept captures shows what was found when they were recorded.
func TestPageAgain(t *testing.T) {
	r := resultOf([]Case{
		{Service: "mutex", Run: 1, Expected: []string{"go.lock-contention"}, Found: []string{"go.lock-contention"}, Right: true, Said: &Said{First: nothing}},
		{Service: "slots", Run: 1, Expected: []string{"service.pool-exhausted"}, Found: []string{"service.pool-exhausted"}, Right: true, Said: &Said{First: "service.pool-exhausted", Right: true}},
		{Service: "older", Run: 1, Expected: []string{"go.gc-rate"}, Found: []string{"go.gc-rate"}, Right: true},
	})
	r.Again = true
	var page bytes.Buffer
	if err := r.writeMarkdown(&page); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| the same, when they were recorded | ≥ 95 % | 1 of 2 recordings |", "right (when it was recorded: nothing)"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page does not say %q:\n%s", want, page.String())
		}
	}
}

// TestPageFiles checks that a page shows beside each service what was found in files alone.
func TestPageFiles(t *testing.T) {
	r := resultOf([]Case{
		{Service: "keys", Run: 1, Expected: []string{"redis.slow-command"}, Found: []string{"redis.slow-command"}, Right: true, Files: &Case{Found: []string{}, Why: "nothing found"}},
		{Service: "quiet", Run: 1, Healthy: true, Found: []string{}, Right: true, Files: &Case{Healthy: true, Found: []string{}, Right: true}},
		{Service: "torn", Run: 1, Healthy: true, Found: []string{}, Right: true, Files: &Case{Error: "cannot be read"}},
		{Service: "other", Run: 1, Healthy: true, Found: []string{}, Right: true},
	})
	var page bytes.Buffer
	if err := r.writeMarkdown(&page); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| 33 % (1 of 3 services) |", "| nothing: **wrong**: nothing found |", "| nothing: right |", "| **error**: cannot be read |", "| — | — | — |"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page does not say %q:\n%s", want, page.String())
		}
	}
}

// TestRun runs services that are healthy, that exit and that never answer, and judges their
// captures again.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("runs services")
	}
	o := options{dir: filepath.Join("testdata", "services"), only: regexp.MustCompile(""), runs: 1, tries: 1, keep: t.TempDir(), noLabs: true, work: t.TempDir(), patience: 20 * time.Second}
	var err error
	if o.binary, err = goBuild(t.Context(), filepath.Join("..", ".."), "./cmd/unstall", filepath.Join(o.work, "unstall")); err != nil {
		t.Fatal(err)
	}
	cases, err := runAll(t.Context(), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	find := func(name string) Case {
		return cases[slices.IndexFunc(cases, func(c Case) bool { return c.Service == name })]
	}
	if c := find("tiny"); c.Error != "" || !c.Healthy || c.Run != 1 {
		t.Errorf("tiny: %+v", c)
	}
	for name, want := range map[string]string{"broken": "no such table", "silent": "none of 6 requests got a response"} {
		if c := find(name); !strings.Contains(c.Error, want) {
			t.Errorf("%s: error %q, want one that says %q", name, c.Error, want)
		}
	}
	o.again = o.keep
	again, err := diagnoseKept(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range again {
		if c.wasDiagnosed() && (c.Said == nil || c.Said.First != c.First() || c.Said.Right != c.Right) {
			t.Errorf("%s: said when it was recorded %+v, now %s", c.Service, c.Said, c.First())
		}
	}
	before, after := resultOf(cases), resultOf(again)
	before.Cases, after.Cases = nil, nil
	if d := cmp.Diff(before, after); d != "" {
		t.Errorf("judged again (-before +after):\n%s", d)
	}
}
