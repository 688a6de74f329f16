package linux

import (
	"context"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe/probetest"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/gobuild"
)

func TestSplit(t *testing.T) {
	for in, want := range map[string][]string{
		"":                      nil,
		"\x00":                  nil,
		"a\x00b\x00":            {"a", "b"},
		"a\n-- 1 /x --\x00\x00": {"a -- 1 /x --", ""},
	} {
		if got := splitZeros([]byte(in)); !slices.Equal(got, want) {
			t.Errorf("%q: %q", in, got)
		}
	}
}

// Build information is written as the go command does, flags without what they
// set.
func TestDescribe(t *testing.T) {
	info := &debug.BuildInfo{GoVersion: "go1.26.8 X:nogreenteagc", Path: "example.com/x", Main: debug.Module{Path: "example.com/x", Version: "v1.0.0"},
		Settings: []debug.BuildSetting{{Key: "-ldflags", Value: "-s -X main.token=hunter2 -X 'main.key=a b'"}, {Key: "CGO_ENABLED", Value: "1"}}}
	text := formatBuildInfo("/usr/bin/x", info)
	want := "/usr/bin/x: go1.26.8 X:nogreenteagc\n\tpath\texample.com/x\n\tmod\texample.com/x\tv1.0.0\t\n\tbuild\t-ldflags=\"-s -X main.token=[redacted] -X 'main.key=[redacted]\"\n\tbuild\tCGO_ENABLED=1\n"
	if d := cmp.Diff(want, text); d != "" {
		t.Error(d)
	}
	if gobuild.Format.Match([]byte(text)) != format.Sure {
		t.Error("the format does not know it")
	}
}

func TestText(t *testing.T) {
	for in, want := range map[string]bool{
		"GET / 200\n": true, "": true, "größe\n": true, "\x1b[32mINFO\x1b[0m up\n": true,
		"SQLite format 3\x00": false, "\x89\x01\x02\x03": false,
	} {
		if isText([]byte(in)) != want {
			t.Errorf("%q: %v", in, !want)
		}
	}
}

func TestArtifactName(t *testing.T) {
	l := &logs{names: make(map[string]bool)}
	var got []string
	for _, p := range []string{"/a/access.log", "/b/access.log", "/c/access.log", "/procfs.txt", "/x/a\nb"} {
		got = append(got, l.artifactName(p))
	}
	if d := cmp.Diff([]string{"access.log", "access-2.log", "access-3.log", "log-procfs.txt", "a_b"}, got); d != "" {
		t.Error(d)
	}
}

func TestSucceeds(t *testing.T) {
	for _, c := range []struct {
		path, old string
		want      bool
	}{
		{"/var/log/gc.log", "/var/log/gc.log", true},
		{"/var/log/gc.log.1.current", "/var/log/gc.log.0.current", true},
		{"/var/log/gc.log.0.current", "/var/log/gc.log.9.current", true},
		{"/var/log/gc.log.0.current", "/var/log/other.log.0.current", false},
		{"/var/log/gc.log.1", "/var/log/gc.log.0", false},
		{"/var/log/a.current", "/var/log/b.current", false},
		{"/var/log/access.log", "/var/log/gc.log", false},
	} {
		if got := isSuccessor(c.path, c.old); got != c.want {
			t.Errorf("%s after %s: %v", c.path, c.old, got)
		}
	}
}

// Where no more files may be kept open, they are read all the same.
func TestFewDescriptors(t *testing.T) {
	var few, many strings.Builder
	for _, x := range []struct {
		out  *strings.Builder
		most int
	}{{&few, 0}, {&many, 1 << 20}} {
		a := &archive{out: x.out, most: x.most}
		n := newTable("/proc", "comm", os.Getpid())
		for range 2 {
			if err := n.appendEntries(a); err != nil {
				t.Fatal(err)
			}
		}
		if a.open != 0 && x.most == 0 || a.open == 0 && x.most > 0 {
			t.Errorf("%d are open", a.open)
		}
		n.close(a)
		if a.open != 0 {
			t.Errorf("%d stay open", a.open)
		}
		if err := a.flush(); err != nil {
			t.Fatal(err)
		}
	}
	if few.Len() == 0 || many.Len() == 0 {
		t.Errorf("%d and %d bytes", few.Len(), many.Len())
	}
}

// A moment allocates nothing once the files are open.
func TestNoGarbage(t *testing.T) {
	r := ownRecorder(t)
	if n := testing.AllocsPerRun(10, func() {
		r.appendFiles(r.own)
		r.appendFiles(r.host)
		r.appendFiles(r.group)
		r.appendFiles(r.slow)
		_ = r.flush()
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func ownRecorder(t testing.TB) *recorder {
	p, err := openProcess(discover.Target{PID: os.Getpid()})
	if err != nil {
		t.Fatal(err)
	}
	r := newRecorder(p, io.Discard)
	t.Cleanup(r.close)
	return r
}

func BenchmarkOften(b *testing.B) {
	r := ownRecorder(b)
	b.ReportAllocs()
	for b.Loop() {
		r.ownFiles(false)
		r.appendFiles(r.host)
		r.appendFiles(r.group)
		_ = r.flush()
	}
}

func BenchmarkSeldom(b *testing.B) {
	r := ownRecorder(b)
	b.ReportAllocs()
	for b.Loop() {
		r.appendFiles(r.slow)
		r.neighbours.listProcesses(&r.archive, false)
		_ = r.flush()
	}
	b.ReportMetric(float64(len(r.neighbours.files)), "processes")
}

// What was written before the end is read, also where the end came while it was looked
// at a file.
func TestReadOnceMoreAtTheEnd(t *testing.T) {
	path := t.TempDir() + "/access.log"
	if err := os.WriteFile(path, []byte(oldLine), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p, err := openProcess(discover.Target{PID: os.Getpid()})
	if err != nil {
		t.Fatal(err)
	}
	out := probetest.NewSink()
	l := openLogs(p, evidence.Subject{}, out)
	if _, err := f.WriteString(oldLine); err != nil {
		t.Fatal(err)
	}
	over, end := context.WithCancel(t.Context())
	end()
	l.followAll(over)
	if got := out.Text("access.log"); got != oldLine {
		t.Errorf("recorded %q", got)
	}
}

// What is done again and again keeps within its share, whatever a round costs.
func TestPace(t *testing.T) {
	for name, cost := range map[string]func(n int) time.Duration{
		"cheap":           func(int) time.Duration { return 10 * time.Microsecond },
		"dear":            func(int) time.Duration { return 5 * time.Millisecond },
		"dear by chance":  func(n int) time.Duration { return time.Duration(1+n%50/49*100) * 50 * time.Microsecond },
		"dearer and more": func(n int) time.Duration { return time.Duration(n) * 10 * time.Microsecond },
	} {
		p := pace{share: .003, least: 25 * time.Millisecond}
		began := time.Unix(1e9, 0)
		now, spent, rounds := began, time.Duration(0), 0
		now = now.Add(p.pauseAfter(now, time.Second)) // the first does not count
		for ; now.Sub(began) < time.Minute; rounds++ {
			c := cost(rounds)
			spent += c
			now = now.Add(c)
			wait := p.pauseAfter(now, c)
			if wait < p.least || wait > 10*time.Second {
				t.Fatalf("%s: pause of %v", name, wait)
			}
			now = now.Add(wait)
		}
		share := spent.Seconds() / now.Sub(began).Seconds()
		if share > 1.1*p.share || name == "cheap" && rounds < 2300 || name != "cheap" && share < .7*p.share {
			t.Errorf("%s: %d rounds took %.2f %%", name, rounds, 100*share)
		}
	}
}
