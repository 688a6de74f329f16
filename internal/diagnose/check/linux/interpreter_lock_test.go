package linux

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// Waits in take_gil are for the interpreter's lock, and what computes meanwhile is named. Waits for a mutex of the program are not.
func TestInterpreterLock(t *testing.T) {
	for name, x := range map[string]struct {
		waits []string // stacks, innermost first, each of a second
		ran   string
		title string // in it; "": no interpreter's lock
	}{
		"uWSGI":            {[]string{"pthread_cond_timedwait take_gil PyEval_RestoreThread wsgi_req_recv", "pthread_cond_timedwait take_gil PyEval_RestoreThread python_call"}, "labels.is_printable", "77 % of the CPU time is in labels.is_printable"},
		"named by library": {[]string{"pthread_cond_timedwait|libpython3.12.so.1.0: take_gil|views.price"}, "views.price", "Python's interpreter lock"},
		"some of it":       {[]string{"take_gil views.price", "pthread_mutex_lock cache_get", "pthread_mutex_lock cache_put"}, "views.price", ""},
		"a mutex":          {[]string{"pthread_mutex_lock cache_get"}, "cache_fill", ""},
	} {
		b := evidence.NewBundle()
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "oncpu.txt"}), "kernelstacks")
		s := p.Subject(evidence.Subject{Kind: evidence.Process, Name: "shop", PID: 7, Runtime: "python"})
		stack := func(functions string) evidence.StackID {
			var frames []evidence.Frame
			for f := range strings.FieldsFuncSeq(functions, func(r rune) bool { return r == '|' || r == ' ' && !strings.Contains(functions, "|") }) {
				frames = append(frames, evidence.Frame{Func: p.Name(f)})
			}
			return p.Stack(frames)
		}
		p.Request(evidence.Request{Subject: s, Start: 1e9, End: 3e9, Origin: p.Origin(1)})
		for i := range int64(100) {
			ran := "other.code"
			if i < 77 {
				ran = x.ran
			}
			p.Sample(evidence.Sample{Subject: s, Time: 1e9 + i*10e6, Stack: stack(ran), Type: p.Name(evidence.SampleOnCPU), Unit: p.Name("count"), Value: 10e6, Origin: p.Origin(2)})
		}
		f := &finding{share: .51, of: "slow time", x: &charged{}}
		for _, w := range x.waits {
			f.x.places = append(f.x.places, ledger.Place{Stack: stack(w), Ns: 1e9})
		}
		p.Close()
		c := &check.Case{Bundle: b, Subject: s, Ledger: &ledger.Ledger{Slow: []int{0}, From: 1e9, To: 3e9}}
		v := f.describeLock(c, check.Verdict{Rule: check.Matters})
		if is := strings.Contains(v.Title, "GIL"); is != (x.title != "") || !strings.Contains(v.Title, x.title) {
			t.Errorf("%s: %s", name, v.Title)
		}
		if x.title != "" && v.Fix[0].Code != x.ran {
			t.Errorf("%s: %+v", name, v.Fix)
		}
	}
}

// One function with half of the CPU time while requests wait for the interpreter's lock is what to mend; of work that is spread over many the lock is.
func TestComputesUnderLock(t *testing.T) {
	for share, want := range map[int64]bool{77: true, 50: true, 49: false} {
		b := evidence.NewBundle()
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "oncpu.txt"}), "kernelstacks")
		s := p.Subject(evidence.Subject{Kind: evidence.Process, Name: "shop", PID: 7, Runtime: "python"})
		stack := func(functions ...string) evidence.StackID {
			var frames []evidence.Frame
			for _, f := range functions {
				frames = append(frames, evidence.Frame{Func: p.Name(f)})
			}
			return p.Stack(frames)
		}
		p.Request(evidence.Request{Subject: s, Start: 1e9, End: 3e9, Origin: p.Origin(1)})
		for i := range int64(100) {
			ran := "labels.is_printable"
			if i >= share {
				ran = []string{"views.sale", "views.price"}[i%2]
			}
			p.Sample(evidence.Sample{Subject: s, Time: 1e9 + i*10e6, Stack: stack(ran), Type: p.Name(evidence.SampleOnCPU), Unit: p.Name("count"), Value: 10e6, Origin: p.Origin(2)})
		}
		f := &finding{share: .51, of: "slow time", x: &charged{per: []int64{1e9}, share: .51, places: []ledger.Place{{Stack: stack("take_gil", "views.sale"), Ns: 1e9}}}}
		p.Close()
		c := &check.Case{Bundle: b, Subject: s, Ledger: &ledger.Ledger{Slow: []int{0}, From: 1e9, To: 3e9}}
		if got := f.computesUnderLock(c); got != want {
			t.Errorf("%d %%: %v, want %v", share, got, want)
		}
		if held := check.HeldInterpreterOf(c); (held.By != nil) != want || want && (held.By.Name() != "labels.is_printable" || held.Share != .51) {
			t.Errorf("%d %%: %+v", share, held)
		}
	}
}
