package procfs

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"golang.org/x/tools/txtar"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

// The first file of an archive is the recording, "|" standing for the "--" of
// headers, which are txtar's own too.
var suite = formattest.Suite{Format: Format, Name: "host.txt", Render: render, Match: heads,
	Input: func(_ testing.TB, f txtar.File) []byte { return recording(f.Data) },
	Hold: func(t testing.TB, b *evidence.Bundle, _ error) {
		for _, s := range b.Series {
			if slices.Min(s.V) < 0 {
				t.Errorf("%s is below zero: %v", s.Name, s.V)
			}
		}
	}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) {
	for _, data := range fixtures(b) {
		suite.Benchmark(b, data)
		return
	}
}

// render writes everything a parse gave, one thing a line; times are since the
// first covered instant.
func render(b *evidence.Bundle, err error) string {
	var w strings.Builder
	if err != nil {
		fmt.Fprintf(&w, "error %v\n", err)
	}
	zero := int64(math.MaxInt64)
	for _, s := range b.Series {
		zero = min(zero, s.T[0])
	}
	for _, a := range b.Artifacts {
		fmt.Fprintf(&w, "artifact %v cut %v\n", a.Formats, a.Tail)
	}
	for _, c := range b.Clocks {
		fmt.Fprintf(&w, "clock %q ± %v resolution %v\n", c.Name, time.Duration(c.Error), time.Duration(c.Resolution))
	}
	for i, s := range b.Subjects {
		fmt.Fprintf(&w, "subject %d %s %q pid %d cpus %d", i, s.Kind, s.Name, s.PID, s.CPUs)
		if s.StartTime != 0 {
			fmt.Fprintf(&w, " started %s", time.Unix(0, s.StartTime).UTC().Format(time.RFC3339Nano))
		}
		w.WriteString("\n")
	}
	for _, s := range b.Series {
		fmt.Fprintf(&w, "s%d %s %s @%d:", s.Subject, s.Name, s.Unit, s.Origin.Position())
		for i := range s.T {
			fmt.Fprintf(&w, " %.6g@%v", s.V[i], time.Duration(s.T[i]-zero))
		}
		w.WriteString("\n")
	}
	for _, c := range b.Coverage {
		fmt.Fprintf(&w, "covered %s s%d %v..%v @%d\n", c.Kind, c.Subject, time.Duration(c.From-zero), time.Duration(c.Until-zero), c.Origin.Position())
	}
	for _, f := range b.Facts {
		fmt.Fprintf(&w, "fact s%d %s %s %g @%d\n", f.Subject, f.Key, f.Value, f.Number, f.Origin.Position())
	}
	for _, t := range b.Tables {
		fmt.Fprintf(&w, "table %s: %s\n", t.Title, strings.Join(t.Columns, " | "))
		for _, r := range t.Rows {
			fmt.Fprintf(&w, "  %s\n", strings.Join(r, " | "))
		}
	}
	for _, x := range b.Warnings {
		fmt.Fprintf(&w, "warning @%d ×%d: %s\n", x.Origin.Position(), x.Count, x.Text)
	}
	return w.String()
}

func recording(data []byte) []byte {
	lines := strings.Split(string(data), "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, "| ") && strings.HasSuffix(l, " |") {
			lines[i] = "--" + l[1:len(l)-1] + "--"
		}
	}
	return []byte(strings.Join(lines, "\n"))
}

// fixtures are recordings of real hosts.
func fixtures(t testing.TB) map[string][]byte {
	names, _ := filepath.Glob("../../diagnose/check/testdata/linux.*/*/procfs.txtar.gz")
	if len(names) == 0 {
		t.Fatal("no recordings in internal/diagnose/check/testdata")
	}
	out := make(map[string][]byte)
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		out[name] = data
	}
	return out
}

// A real host's figures add up.
func TestRecordings(t *testing.T) {
	for name, data := range fixtures(t) {
		b, err := suite.Read(data)
		if err != nil {
			t.Fatal(err)
		}
		if len(b.Warnings) > 0 {
			t.Errorf("%s: warned %v", name, b.Warnings)
		}
		host := b.Subjects[0]
		if host.Kind != evidence.Host || host.CPUs == 0 {
			t.Errorf("%s: host %+v", name, host)
		}
		var processes float64
		for i := range b.Subjects {
			if s := b.SeriesOf(evidence.SubjectID(i), "process.cpu"); s != nil {
				processes += mean(s)
			}
		}
		busy := mean(b.SeriesOf(0, "host.cpu.busy"))
		if busy <= 0 || busy > float64(host.CPUs)*1.05 {
			t.Errorf("%s: %.2f of %d CPUs are busy", name, busy, host.CPUs)
		}
		if processes <= 0 || processes > busy*1.15 {
			t.Errorf("%s: the processes use %.2f CPUs of %.2f that are busy", name, processes, busy)
		}
		for _, s := range b.Series {
			if strings.HasPrefix(s.Name, "host.pressure.") {
				if m := mean(&s); m < 0 || m > 1.01 {
					t.Errorf("%s: %s is %.2f of the time", name, s.Name, m)
				}
			}
		}
		if p := b.Subjects[1]; p.PID == 0 || p.Name == "" || p.StartTime == 0 || p.StartTime > b.Series[0].T[0] {
			t.Errorf("%s: the first process is %+v", name, p)
		}
	}
}

func mean(s *evidence.Series) float64 {
	t := track{t: s.T, v: s.V}
	return t.mean()
}

// A recording that breaks off gives what was read before.
func TestCut(t *testing.T) {
	for name, data := range fixtures(t) {
		full, err := suite.Read(data)
		if err != nil {
			t.Fatal(err)
		}
		for i := 1; i <= 50; i++ {
			n := len(data)*i/51 + i
			b, err := suite.Read(data[:n])
			if err != nil {
				t.Fatalf("%s cut at %d: %v", name, n, err)
			}
			for _, w := range b.Warnings {
				if !strings.Contains(w.Text, "below the previous one") && !strings.Contains(w.Text, "read only once") {
					t.Errorf("%s cut at %d: %v", name, n, w)
				}
			}
			for _, s := range b.Series {
				if len(s.T) < 2 {
					continue
				}
				whole := full.SeriesOf(named(full, b.Subjects[s.Subject].PID), s.Name)
				last := len(s.T) - 1
				if d := cmp.Diff(whole.V[:last], s.V[:last]); d != "" {
					t.Errorf("%s cut at %d: %s: %s", name, n, s.Name, d)
				}
			}
		}
	}
}

func named(b *evidence.Bundle, pid int) evidence.SubjectID {
	for i, s := range b.Subjects {
		if s.PID == pid {
			return evidence.SubjectID(i)
		}
	}
	return -1
}

// The time that threads ran is summed by their names without numbers, from when the names are known. Threads that all have one name need no sums.
func TestThreadNames(t *testing.T) {
	for names, want := range map[[3]string]map[string]float64{
		{"fitter-1", "fitter-2", "java"}: {"fitter": 1.5, "java": .25},
		{"app", "app", "app"}:            {},
		{"17", "pool-2-thread-4", "#4"}:  {"17": 1, "pool-2-thread": .5, "#4": .25},
	} {
		var w bytes.Buffer
		for round := range int64(4) {
			at := int64(1.7e18) + round*1e9
			fmt.Fprintf(&w, "-- %d /proc/7/stat --\n7 (java) S 1 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 3 0 100 1 1\n", at)
			for k := range names {
				fmt.Fprintf(&w, "-- %d /proc/7/task/%d/schedstat --\n%d 0 %d\n", at, 7+k, round*int64(1e9)>>k, round)
			}
			for k, name := range names {
				if round == 0 {
					fmt.Fprintf(&w, "-- %d /proc/7/task/%d/comm --\n%s\n", at, 7+k, name)
				}
			}
		}
		b, err := suite.Read(w.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		got := make(map[string]float64)
		for i := range b.Series {
			s := &b.Series[i]
			if name, ok := strings.CutPrefix(s.Name, evidence.SeriesProcessThreadsRunOf+":"); ok {
				mean, _ := s.Mean(s.T[0], s.T[len(s.T)-1])
				got[name] = math.Round(mean*100) / 100
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("%q: %v, want %v", names, got, want)
		}
	}
}

func TestBounds(t *testing.T) {
	var w bytes.Buffer
	for round := range 3 {
		for pid := range maxProcesses + 10 {
			fmt.Fprintf(&w, "-- %d /proc/%d/schedstat --\n%d %d 1\n", int64(1.7e18)+int64(round)*1e9, pid+1, round, round)
		}
	}
	b, err := suite.Read(w.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if n := len(b.Subjects) - 1; n != maxProcesses {
		t.Errorf("%d processes", n)
	}
	if len(b.Warnings) != 1 || !strings.Contains(b.Warnings[0].Text, "30 readings were not kept") {
		t.Errorf("warned %v", b.Warnings)
	}
}

var heads = map[string]format.Confidence{
	"-- 1763689985000000000 /proc/stat --\n":                                          format.Sure,
	"# taken on web-3\n\n-- 1763689985 /proc/7/stat --\r\n":                           format.Sure,
	"-- 1763689985 --\n==> /proc/stat <==\n":                                          format.Sure,
	"-- 1763689985000000000 /sys/fs/cgroup/cpu.stat --\n":                             format.Sure,
	"MemTotal:        8010020 kB\nMemFree:          500000 kB\n":                      format.Sure,
	"Mon Nov 23 05:59:49 UTC 2026\nnr_free_pages 5\npgfault 1000\n":                   format.Sure,
	"# A fatal error has been detected\nMemTotal:        8010020 kB\nMemFree: 5 kB\n": format.No,
	"==> /proc/stat <==\n":                                                            format.Sure,
	"$ cat /sys/fs/cgroup/cpu.stat\n":                                                 format.Sure,
	"root@web-3:~# cat /proc/pressure/cpu\n":                                          format.Sure,
	"[root@web-3 ~]# uname -a\nLinux\n[root@web-3 ~]# cat /proc/loadavg\n":            format.Sure,
	"$ cat /etc/passwd\n":                                                             format.No,
	"$ ls /sys/fs/cgroup/\ncpu.stat\n":                                                format.No,
	"-- 17 /etc/passwd --\n":                                                          format.No,
	"-- go.mod --\n":                                                                  format.No,
	"-- x /proc/stat --\n":                                                            format.No,
	"--  --\n-- \n":                                                                   format.No,
}
