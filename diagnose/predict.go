package diagnose

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/cause"
	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/incident"
	"github.com/unstall/unstall/predict"
)

// WhichError says that the question is not about this evidence, or not clear: that is
// for whoever asked to change.
type WhichError struct{ Why string }

func (e *WhichError) Error() string { return e.Why }

func which(format string, args ...any) error { return &WhichError{fmt.Sprintf(format, args...)} }

// PredictOptions are what is asked of [Predict].
type PredictOptions struct {
	Target  string // a process by its name or PID; "": the only one
	Wanted  []predict.Wanted
	Since   time.Time // zero: all there is
	Until   time.Time
	Version string // of the tool
}

// Predict says what settings would do to the process that was read into a bundle, which
// stays as it is. What cannot be is an error beside the rest.
func Predict(read *evidence.Bundle, opt PredictOptions) (*predict.Prediction, error) {
	i := incident.Of(read, incident.Options{Since: opt.Since, Until: opt.Until})
	if i.Nothing() {
		return nil, which("nothing of the evidence lies in the time asked for: it is of %s UTC", between(i.Whole))
	}
	b := i.Bundle
	r := &run{b: b, d: &Diagnosis{}, ledgers: i.Ledgers()}
	r.names()
	id, err := r.modelled(opt.Target)
	if err != nil {
		return nil, err
	}
	m := models[r.b.Subjects[id].Runtime]
	for _, w := range opt.Wanted {
		if w.Model() != m.name {
			return nil, which("--set %s: %s is a %s process, there is nothing like it", w.Text, r.name[id], m.runtime)
		}
	}
	p, err := m.ask(r, &cause.Case{Bundle: b, Subject: id, Ledger: r.ledgerOf(id)}, opt.Wanted)
	if p == nil {
		return nil, fmt.Errorf("%s: %w", r.name[id], err)
	}
	p.ToolVersion = opt.Version
	return p, err
}

// model is what can be predicted of processes of one runtime.
type model struct {
	name    string // of [predict.Prediction]
	runtime string // in words
	covers  string // evidence that only the process meant has, where there are several
	ask     func(*run, *cause.Case, []predict.Wanted) (*predict.Prediction, error)
}

// models by the runtime of a subject.
var models = map[string]model{
	"go":     {predict.ModelHeap, "Go", evidence.CoverGC, predictHeap},
	"dotnet": {predict.ModelPool, ".NET", evidence.CoverThreadPool, predictPool},
	"jvm":    {predict.ModelYoung, "JVM", evidence.CoverGC, predictYoung},
}

// modelled finds the process that is meant.
func (r *run) modelled(target string) (evidence.SubjectID, error) {
	var of, watched []evidence.SubjectID
	others := 0
	for i, s := range r.b.Subjects {
		id := evidence.SubjectID(i)
		if _, ok := r.name[id]; !ok || s.Kind != evidence.Process {
			continue
		}
		if target != "" && target != s.Name && target != strconv.Itoa(s.PID) && target != r.name[id] {
			continue
		}
		m, ok := models[s.Runtime]
		if !ok {
			others++
			continue
		}
		of = append(of, id)
		if len(r.b.Covered(id, m.covers)) > 0 {
			watched = append(watched, id)
		}
	}
	if len(watched) > 0 {
		of = watched
	}
	var names []string
	for _, id := range of {
		names = append(names, r.name[id])
	}
	switch {
	case len(of) == 1:
		return of[0], nil
	case len(of) > 1:
		return 0, which("these are of %d processes: choose one with --target: %s", len(of), strings.Join(names, ", "))
	case target != "":
		return 0, which("--target %s: nothing here is of a Go, .NET or JVM process of that name or PID", target)
	case others > 0:
		return 0, which("what was recorded is of no Go, .NET or JVM process, or does not say so: the models are of Go's heap (its gctrace log, an execution trace or a capture of it will do), of .NET's thread pool (a capture) and of a JVM's young generation (its GC log, or a capture)")
	default:
		return 0, which("nothing was recorded of a process: give a capture of a Go, .NET or JVM process under load, the GC log of a JVM, or the log of a run with GODEBUG=gctrace=1")
	}
}
