package diagnose

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/analyze/model"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/base/evidence"
)

// WhichError means that the question does not fit this evidence, or is ambiguous: the user must change it.
type WhichError struct{ Why string }

func (e *WhichError) Error() string { return e.Why }

func newWhichError(format string, args ...any) error {
	return &WhichError{fmt.Sprintf(format, args...)}
}

// PredictOptions are the input of [Predict].
type PredictOptions struct {
	Target  string // a process by its name or PID; "": the only one
	Wanted  []model.Wanted
	Since   time.Time // zero: unbounded
	Until   time.Time
	Version string // of the tool
}

// Predict predicts the effect of settings on the process in a bundle, which it does not change. An impossible setting is an error beside
// the rest of the answer.
func Predict(read *evidence.Bundle, opt PredictOptions) (*model.Answer, error) {
	i := incident.Of(read, incident.Options{Since: opt.Since, Until: opt.Until})
	if i.Nothing() {
		return nil, newWhichError("no evidence lies between --since and --until: it covers %s", formatCoveredTime(i))
	}
	b := i.Bundle
	r := &run{incident: i, b: b, d: &Diagnosis{}}
	r.nameSubjects()
	id, err := r.findModelledProcess(opt.Target)
	if err != nil {
		return nil, err
	}
	of := platform.ByID(b.Subjects[id].Runtime)
	m := platform.Everywhere[0]
	if len(of.Models) > 0 {
		m = of.Models[0]
	}
	for _, w := range opt.Wanted {
		if !slices.Contains(of.Models, w.Model) && !slices.Contains(platform.Everywhere, w.Model) {
			return nil, newWhichError("--set %s: %s is a %s process, which does not have this setting", w.Text, r.name[id], of.Title)
		}
		m = w.Model // all are of one model
	}
	a, err := m.Ask(model.Question{Bundle: b, Subject: id, Name: r.name[id], AtLeast: oldestRelease(b, id), Ledger: i.Ledger(id), Wanted: opt.Wanted})
	if a == nil {
		return nil, fmt.Errorf("%s: %w", r.name[id], err)
	}
	a.ToolVersion = opt.Version
	return a, err
}

// findModelledProcess returns the process that a target names, or the only one that has a model.
func (r *run) findModelledProcess(target string) (evidence.SubjectID, error) {
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
		models := platform.ByID(s.Runtime).Models
		covers := func(m *model.Model) bool { return len(r.b.Covered(id, m.Covers)) > 0 }
		anyway := slices.ContainsFunc(platform.Everywhere, covers)
		if len(models) == 0 && !anyway {
			others++
			continue
		}
		of = append(of, id)
		if anyway || slices.ContainsFunc(models, covers) {
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
		return 0, newWhichError("the files hold %d processes: choose one with --target: %s", len(of), strings.Join(names, ", "))
	case target != "":
		return 0, newWhichError("--target %s: the files hold no %s process of that name or PID", target, platform.Modelled())
	case others > 0:
		return 0, newWhichError("the files hold no known %s process: there are models %s", platform.Modelled(), model.About(platform.Models()))
	default:
		return 0, newWhichError("the files hold no process: give a capture of a %s process under load, the GC log of a JVM, or the log of a run with GODEBUG=gctrace=1", platform.Modelled())
	}
}
