package export

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/timeline"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/all"
)

// Stacks of running and waiting threads are profiles of their own, with the mechanism as a label.
func TestKernelStacks(t *testing.T) {
	for part, c := range map[string]struct {
		text, class string
		value       int64
	}{
		"on-cpu": {"# kernel stacks of pid 4711, running, one in 10000000 ns\nfrom 1763689985000000000\nf 1 k asm_exc_page_fault\nf 2 u app\tfill\ns 1 1 2\n" +
			"r 1763689985100000000 4712 1\nr 1763689985200000000 4712 1\nuntil 1763689986000000000\n", "page fault", 20e6},
		"off-cpu": {"# kernel stacks of pid 4711, waiting, from 1000000 ns on\nfrom 1763689985000000000\nf 1 k do_fsync\nf 2 u app\tfill\ns 1 1 2\n" +
			"w 1763689985100000000 2500000 4712 D -1 1\no 4712 1 3 500000\nuntil 1763689986000000000\n", "fsync", 3e6},
	} {
		b := incident.NewBundle()
		a := &format.Artifact{Name: part, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(c.text)), nil }}
		if err := format.Read(t.Context(), all.Formats, a, b); err != nil {
			t.Fatal(err)
		}
		p, err := profile.ParseData(exported(t, Of(b, Options{}), "pprof", part))
		if err != nil {
			t.Fatal(err)
		}
		var sum int64
		for _, s := range p.Sample {
			sum += s.Value[0]
			if got := strings.Join(s.Label["class"], ","); got != c.class || len(s.Location) != 2 {
				t.Errorf("%s: class %q of %d frames", part, got, len(s.Location))
			}
		}
		if sum != c.value {
			t.Errorf("%s: %d ns, want %d", part, sum, c.value)
		}
	}
}

// A flame of the page and the profile of the same name hold the same: time on a CPU, time of waiting, slow requests only.
func TestProfilesKeepTheChoiceOfThePage(t *testing.T) {
	const kernel = "../../diagnose/check/testdata/linux.disk-sync/sick"
	for dir, ids := range map[string][]string{kernel: {"on-cpu", "off-cpu"}, "../../../lab/go-ballast/recorded/sick": {"cpu", "slow"},
		"../../diagnose/check/testdata/jvm.lock-contention/sick": {"threads", "threads-running", "threads-waiting"}} {
		s := Of(readDirectory(t, dir), Options{})
		subject := evidence.SubjectID(-1)
		for _, l := range s.Ledgers {
			subject = l.Subject
		}
		for _, id := range ids {
			flame := flameOf(s, subject, id)
			if flame == nil {
				t.Errorf("%s: no flame %s", dir, id)
				continue
			}
			p, err := profile.ParseData(exported(t, s, "pprof", id))
			if err != nil {
				t.Fatal(err)
			}
			column := slices.IndexFunc(p.SampleType, func(v *profile.ValueType) bool { return v.Type == p.DefaultSampleType })
			var sum int64
			for _, x := range p.Sample {
				sum += x.Value[max(0, column)]
			}
			if sum != flame.Total || sum == 0 {
				t.Errorf("%s: the flame %s holds %d, the profile %d", dir, id, flame.Total, sum)
			}
			if len(p.SampleType) > 1 && strings.HasSuffix(id, "-cpu") {
				t.Errorf("%s: %s has the columns %v", dir, id, p.SampleType)
			}
		}
	}
	scope := string(exported(t, Of(readDirectory(t, kernel), Options{}), "speedscope", ""))
	for _, want := range []string{`"CPU, by the kernel, `, `"waiting, by the kernel, `} {
		if !strings.Contains(scope, want) {
			t.Errorf("speedscope: no profile %s", want)
		}
	}
}

func flameOf(s *Source, subject evidence.SubjectID, id string) *timeline.Flame {
	for i := range s.Bundle.Subjects {
		if subject >= 0 && evidence.SubjectID(i) != subject {
			continue
		}
		all := timeline.Of(s.Bundle, s.Ledgers, evidence.SubjectID(i)).Flames
		if at := slices.IndexFunc(all, func(f timeline.Flame) bool { return f.ID == id }); at >= 0 {
			return &all[at]
		}
	}
	return nil
}

// readDirectory reads the recordings of a folder; what was expected of them lies beside them.
func readDirectory(t *testing.T, dir string) *evidence.Bundle {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	b := incident.NewBundle()
	for _, f := range files {
		if f.Name() == "truth.json" {
			continue
		}
		if err := format.Read(t.Context(), all.Formats, format.File(filepath.Join(dir, f.Name())), b); err != nil {
			t.Fatal(err)
		}
	}
	return b
}
