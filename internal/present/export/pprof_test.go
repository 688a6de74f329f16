package export

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
)

func parsed(t *testing.T, data []byte) *profile.Profile {
	t.Helper()
	p, err := profile.ParseData(data)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// flat sums a value by the innermost function.
func flat(p *profile.Profile, typ string) map[string]int64 {
	column := -1
	for i, t := range p.SampleType {
		if t.Type == typ {
			column = i
		}
	}
	out := make(map[string]int64)
	for _, x := range p.Sample {
		name := "(no stack)"
		if len(x.Location) > 0 {
			name = x.Location[0].Line[0].Function.Name
		}
		out[name] += x.Value[column]
	}
	return out
}

func TestCPUAsRecorded(t *testing.T) {
	data, err := os.ReadFile(sick + "/cpu.pb.gz")
	if err != nil {
		t.Fatal(err)
	}
	was := parsed(t, data)
	got := parsed(t, exported(t, recorded(t, Options{}), "pprof", "cpu"))
	want := flat(was, "cpu")
	have := flat(got, "cpu")
	for f, v := range want {
		if have[f] != v {
			t.Errorf("%s: %d ns, recorded %d", f, have[f], v)
		}
	}
	if len(want) != len(have) || len(want) < 50 {
		t.Errorf("%d functions, recorded %d", len(have), len(want))
	}
	if got.TimeNanos != was.TimeNanos || got.DurationNanos != was.DurationNanos || got.Period != was.Period {
		t.Errorf("time %d, duration %d, period %d; recorded %d, %d, %d", got.TimeNanos, got.DurationNanos, got.Period, was.TimeNanos, was.DurationNanos, was.Period)
	}
	classes := make(map[string]int64)
	for _, x := range got.Sample {
		for _, c := range x.Label["class"] {
			classes[c] += x.Value[0]
		}
	}
	if classes["gc assist"] == 0 || classes["gc background mark (fractional)"] == 0 {
		t.Errorf("classes: %v", classes)
	}
}

// TestSlowAsCharged checks that the profile of slow requests equals the ledger, by stack.
func TestSlowAsCharged(t *testing.T) {
	s := recorded(t, Options{})
	l := s.tracedLedgers()[0]
	p := parsed(t, exported(t, s, "pprof", "slow"))
	var got ledger.Charges
	var total int64
	for _, x := range p.Sample {
		root := x.Location[len(x.Location)-1].Line[0].Function.Name
		for m := range ledger.NumMechanisms {
			if x.Label["mechanism"][0] == m.String() {
				got[m] += x.Value[0]
				if root != "["+m.Title()+"]" {
					t.Fatalf("%s below %q", m, root)
				}
			}
		}
		total += x.Value[0]
		if x.Value[1] <= 0 {
			t.Fatalf("%d states took %d ns", x.Value[1], x.Value[0])
		}
	}
	if got != l.Charges || total != l.Total {
		t.Errorf("%v of %d ns, the ledger has %v of %d", got, total, l.Charges, l.Total)
	}
}

// TestToolPprof reads the profiles with go tool pprof.
func TestToolPprof(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no go command here")
	}
	s := recorded(t, Options{})
	slow := fmt.Sprintf(`(?s)Total samples = %.2fus.*\[mark assist\]`, float64(s.tracedLedgers()[0].Total)/1e3)
	for part, want := range map[string]string{"cpu": `Total samples = 5\.98s`, "slow": slow} {
		name := filepath.Join(t.TempDir(), part+".pb.gz")
		if err := os.WriteFile(name, exported(t, s, "pprof", part), 0o644); err != nil {
			t.Fatal(err)
		}
		out := tool(t, "-top", "-nodecount=1000", "-nodefraction=0", name)
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("%s: no %s in\n%.600s", part, want, out)
		}
		if raw := tool(t, "-raw", name); !strings.Contains(raw, "Samples:") || !strings.Contains(raw, "Locations") {
			t.Errorf("%s: -raw gives\n%.600s", part, raw)
		}
	}
}

func tool(t *testing.T, args ...string) string {
	t.Helper()
	c := exec.Command("go", append([]string{"tool", "pprof", "-symbolize=none"}, args...)...)
	c.Env = append(os.Environ(), "PPROF_TMPDIR="+t.TempDir())
	var said bytes.Buffer
	c.Stderr = &said
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", c.Args, err, said.String())
	}
	return string(out)
}

// TestWhichProfiles uses the last of the profiles that count since the process started, and all that cover a window.
func TestWhichProfiles(t *testing.T) {
	heap := readOf(t, Options{}, evidence.Subject{Name: "gateway", PID: 7}, "testdata/heap-1.txt", "testdata/heap-2.txt")
	p := parsed(t, exported(t, heap, "pprof", "heap"))
	if got := flat(p, "inuse_space"); got["main.grow"] == 0 || got["main.old"] != 0 {
		t.Errorf("heap: %v, want the last one alone", got)
	}
	if p.DefaultSampleType != "inuse_space" || len(p.SampleType) != 4 {
		t.Errorf("%d types, %q unasked", len(p.SampleType), p.DefaultSampleType)
	}
	twice := read(t, Options{}, sick+"/cpu.pb.gz", "../../../lab/go-ballast/recorded/fixed/cpu.pb.gz")
	var both, sum int64
	for _, v := range flat(parsed(t, exported(t, twice, "pprof", "cpu")), "cpu") {
		both += v
	}
	for _, name := range []string{sick + "/cpu.pb.gz", "../../../lab/go-ballast/recorded/fixed/cpu.pb.gz"} {
		for _, v := range flat(parsed(t, exported(t, read(t, Options{}, name), "pprof", "cpu")), "cpu") {
			sum += v
		}
	}
	if both != sum || sum == 0 {
		t.Errorf("two CPU profiles together %d ns, one by one %d", both, sum)
	}
}

func TestHostilePprof(t *testing.T) {
	for _, part := range []string{"cpu", "slow"} {
		p := parsed(t, exported(t, strange(), "pprof", part))
		found := make(map[string]bool)
		for _, f := range p.Function {
			found[f.Name] = true
		}
		for _, name := range hostile {
			if !found["leaf "+name] {
				t.Errorf("%s: %q is not a function of the profile", part, name)
			}
		}
	}
}
