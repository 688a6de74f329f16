package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/unstall/unstall/internal/analyze/model"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/base/suggest"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/diagnose/check"
	causes "github.com/unstall/unstall/internal/diagnose/check/all"
	"github.com/unstall/unstall/internal/diagnose/inspect"
	"github.com/unstall/unstall/internal/present/json"
	"github.com/unstall/unstall/internal/present/markdown"
	"github.com/unstall/unstall/internal/present/sentence"
)

func (a *server) addTools() {
	addReadOnlyTool(a, "list", "List the captures and other files that can be diagnosed, and the processes that run here and could be recorded.", a.listCaptures)
	addReadOnlyTool(a, "diagnose", "Say why requests are slow, from one or several files recorded at the same time: the cause, what it costs in ms of request time, the evidence and what to change.", a.diagnoseFiles)
	addReadOnlyTool(a, "inspect", "Show what files hold, without a verdict: GC, threads, requests, tables.", a.inspectFiles)
	addReadOnlyTool(a, "compare", "Say whether a change helped, from captures or load results before and after it.", a.compareFiles)
	addReadOnlyTool(a, "predict", "Say what a setting would do, from what was recorded under load.", a.predictSettings)
	addReadOnlyTool(a, "explain", "Explain a cause by its id: the mechanism, how to tell it from similar problems, what helps and what does not. Without an id: list all causes.", a.explainCause)
	if a.opt.Record != nil {
		addTool(a, &mcp.Tool{Name: "record", Description: "Record a running process for some seconds into a capture, to be diagnosed then. It switches profiling on in the process for that time, unless it is passive.",
			Annotations: &mcp.ToolAnnotations{OpenWorldHint: new(bool), DestructiveHint: new(bool)}}, a.recordTarget)
	}
}

type listIn struct {
	Containing string `json:"containing,omitempty" jsonschema:"only entries with this in their name, target or verdict"`
}

func (a *server) listCaptures(ctx context.Context, in listIn) (answer, error) {
	items, left, err := a.shelf.Items()
	if err != nil {
		return answer{}, err
	}
	type file struct {
		Name    string  `json:"name"`
		Capture bool    `json:"capture"`
		Target  string  `json:"target,omitempty"`
		At      string  `json:"at"`
		Seconds float64 `json:"seconds,omitempty"`
		Bytes   int64   `json:"bytes"`
		Cause   string  `json:"cause,omitempty"`
		Brief   string  `json:"brief,omitempty"`
	}
	type process struct {
		PID     int      `json:"pid"`
		Name    string   `json:"name"`
		Runtime string   `json:"runtime"`
		Version string   `json:"version,omitempty"`
		CPU     float64  `json:"cpu_cores"`
		Listens []string `json:"listens,omitempty"`
	}
	files, processes := []file{}, []process{}
	for _, item := range items {
		f := file{Name: item.Name, Capture: item.Capture, Target: item.Target, At: item.At.UTC().Format(time.RFC3339), Seconds: item.For.Seconds(), Bytes: item.Bytes}
		if known, ok := a.shelf.Known(item.Name); ok {
			f.Cause, f.Brief = known.Cause, known.Brief
		}
		if in.Containing == "" || strings.Contains(strings.ToLower(f.Name+" "+f.Target+" "+f.Brief), strings.ToLower(in.Containing)) {
			files = append(files, f)
		}
	}
	said := map[string]any{"files": len(files), "next": "diagnose with the names of files recorded at the same time"}
	if left > 0 {
		said["files_not_listed"] = left
	}
	if a.opt.List != nil {
		found, err := a.opt.List(ctx)
		if err != nil {
			said["processes_unknown"] = "processes cannot be listed on this system"
		}
		for _, f := range found {
			p := process{PID: f.PID, Name: f.Name, Runtime: f.Runtime, Version: f.Version, CPU: float64(int(100*f.CPU)) / 100}
			for _, l := range f.Listens {
				p.Listens = append(p.Listens, l.String())
			}
			if in.Containing == "" || strings.Contains(strings.ToLower(p.Name), strings.ToLower(in.Containing)) {
				processes = append(processes, p)
			}
		}
	}
	said["can_record"] = a.opt.Record != nil
	return answer{said: said, recorded: map[string]any{"files": files, "processes": processes}}, nil
}

type diagnoseIn struct {
	Files []string `json:"files" jsonschema:"names of captures or other files of the same service and period"`
	SLO   string   `json:"slo,omitempty" jsonschema:"requests that take longer are slow, such as 300ms; without it, three times the baseline latency of their route"`
}

func (a *server) diagnoseFiles(ctx context.Context, in diagnoseIn) (answer, error) {
	opt := diagnose.Options{}
	if in.SLO != "" {
		var err error
		if opt.SLO, err = time.ParseDuration(in.SLO); err != nil || opt.SLO <= 0 {
			return answer{}, errors.New("slo: give a time such as 300ms")
		}
	}
	if len(in.Files) == 0 {
		return answer{}, errors.New("files: name at least one: the tool list has their names")
	}
	d, err := a.shelf.Diagnose(ctx, in.Files, opt)
	if err != nil {
		return answer{}, err
	}
	type found struct {
		Cause   string          `json:"cause"`
		Title   string          `json:"title"`
		Verdict string          `json:"verdict"`
		Saves   *diagnose.Saves `json:"saves_ms,omitempty"`
	}
	all := []found{}
	for _, v := range d.Verdicts {
		if v.Verdict == "supported" {
			all = append(all, found{v.Cause, titleOf(v.Cause), v.Verdict, v.Saves})
		}
	}
	said := map[string]any{"outcome": d.Outcome, "ranked_by": d.RankedBy, "causes": all, "next": nextSteps(d)}
	tree, err := a.diagnosisTree(d)
	return answer{said: said, recorded: tree}, err
}

// titleOf returns the general title of a cause: a verdict's title may hold names of what was
// recorded.
func titleOf(id string) string {
	for _, c := range causes.Causes {
		if c.ID == id {
			return c.Title
		}
	}
	return ""
}

// nextSteps returns what to ask after a diagnosis.
func nextSteps(d *diagnose.Diagnosis) []string {
	supported, open, _ := sentence.Split(d)
	switch {
	case len(supported) > 0:
		return []string{"explain " + supported[0].Cause, "predict what the setting under fix would do, where it is one", "after the change: record again, then compare before and after"}
	case len(open) > 0:
		return []string{"inconclusive verdicts list under needs what to record"}
	}
	return []string{"no cause stands out: record while it is slow, and add an access log"}
}

// diagnosisTree returns a diagnosis without what an assistant cannot use: of causes that were
// ruled out only the summary.
func (a *server) diagnosisTree(d *diagnose.Diagnosis) (any, error) {
	var text bytes.Buffer
	if err := json.Encode(&text, d); err != nil {
		return nil, err
	}
	tree, err := toJSONTree(rawJSON(text.Bytes()))
	if err != nil {
		return nil, err
	}
	top, ok := tree.(map[string]any)
	if !ok {
		return tree, nil
	}
	top["brief"] = sentence.Brief(d)
	for _, key := range []string{"schema", "tool_version", "coverage", "sources"} {
		delete(top, key)
	}
	verdicts, _ := top["verdicts"].([]any)
	for i, v := range verdicts {
		verdict, _ := v.(map[string]any)
		delete(verdict, "needs_commands")
		if verdict["verdict"] == "ruled_out" {
			verdicts[i] = map[string]any{"cause": verdict["cause"], "verdict": "ruled_out", "summary": verdict["summary"]}
		}
	}
	return top, nil
}

// rawJSON is JSON already.
type rawJSON []byte

func (r rawJSON) MarshalJSON() ([]byte, error) { return r, nil }

type filesIn struct {
	Files []string `json:"files" jsonschema:"names of captures or other files"`
}

func (a *server) inspectFiles(ctx context.Context, in filesIn) (answer, error) {
	if len(in.Files) == 0 {
		return answer{}, errors.New("files: name at least one: the tool list has their names")
	}
	held, err := a.shelf.Held(ctx, in.Files)
	if err != nil {
		return answer{}, err
	}
	var text bytes.Buffer
	if err := json.Encode(&text, inspect.Of(held)); err != nil {
		return answer{}, err
	}
	return answer{said: map[string]any{"next": "diagnose shows which of it makes requests slow"}, recorded: rawJSON(text.Bytes())}, nil
}

type compareIn struct {
	Before []string `json:"before" jsonschema:"names of runs before the change: captures, load results"`
	After  []string `json:"after" jsonschema:"as many runs after it"`
	SLO    string   `json:"slo,omitempty" jsonschema:"also compare the share of requests slower than this, such as 300ms"`
}

func (a *server) compareFiles(ctx context.Context, in compareIn) (answer, error) {
	if len(in.Before) == 0 || len(in.After) == 0 {
		return answer{}, errors.New("before and after: name at least one file each")
	}
	var slo time.Duration
	if in.SLO != "" {
		var err error
		if slo, err = time.ParseDuration(in.SLO); err != nil || slo <= 0 {
			return answer{}, errors.New("slo: give a time such as 300ms")
		}
	}
	c, err := a.shelf.Compare(ctx, in.Before, in.After, slo)
	if err != nil {
		return answer{}, err
	}
	type change struct {
		Metric string   `json:"metric"`
		Unit   string   `json:"unit"`
		Before *float64 `json:"before"`
		After  *float64 `json:"after"`
		Result string   `json:"result"`
	}
	changes := []change{}
	for _, m := range c.Metrics {
		changes = append(changes, change{m.Name, m.Unit, m.Before, m.After, m.Result})
	}
	said := map[string]any{"comparable": c.Comparable, "pairs": c.Pairs, "changes": changes}
	var text bytes.Buffer
	if err := json.Encode(&text, c); err != nil {
		return answer{}, err
	}
	return answer{said: said, recorded: rawJSON(text.Bytes())}, nil
}

type predictIn struct {
	Files  []string `json:"files" jsonschema:"what was recorded of a process under load: a capture, a GC log, profiles, an access log"`
	Set    []string `json:"set,omitempty" jsonschema:"settings, such as GOGC=400 or GOGC=off GOMEMLIMIT=2GiB; without them, the usual ones"`
	Target string   `json:"target,omitempty" jsonschema:"the process by its name or PID, if the files hold several"`
}

func (a *server) predictSettings(ctx context.Context, in predictIn) (answer, error) {
	if len(in.Files) == 0 {
		return answer{}, errors.New("files: name at least one: the tool list has their names")
	}
	wanted, err := model.ParseSets(platform.Models(), in.Set)
	if err != nil {
		return answer{}, err
	}
	bundle, err := a.shelf.Bundle(ctx, in.Files)
	if err != nil {
		return answer{}, err
	}
	predicted, err := diagnose.Predict(bundle, diagnose.PredictOptions{Target: in.Target, Wanted: wanted, Version: a.opt.Version})
	if predicted == nil {
		return answer{}, err
	}
	var text bytes.Buffer
	if err := json.Predict(&text, predicted); err != nil {
		return answer{}, err
	}
	said := map[string]any{"model": predicted.Model, "rows": len(predicted.Rows), "next": "try the setting, record again, then compare"}
	recorded := map[string]any{"prediction": rawJSON(text.Bytes())}
	if err != nil { // some of the settings could not be predicted
		recorded["not_predicted"] = err.Error()
	}
	return answer{said: said, recorded: recorded}, nil
}

type explainIn struct {
	Cause string `json:"cause,omitempty" jsonschema:"the id of a cause, such as go.gc-rate"`
}

func (a *server) explainCause(_ context.Context, in explainIn) (answer, error) {
	type one struct {
		ID    string `json:"cause"`
		Title string `json:"title"`
	}
	all := []one{}
	var ids []string
	for _, c := range causes.Causes {
		if c.ID == in.Cause {
			return answer{said: causeExplanation(c)}, nil
		}
		all, ids = append(all, one{c.ID, c.Title}), append(ids, c.ID)
	}
	if in.Cause != "" {
		near := suggest.Nearest(in.Cause, ids)
		if near == "" {
			return answer{}, errors.New("unknown cause: without an id the tool lists all")
		}
		return answer{}, fmt.Errorf("unknown cause: did you mean %s?", near)
	}
	return answer{said: map[string]any{"causes": len(all)}, recorded: map[string]any{"causes": all}}, nil
}

func causeExplanation(c check.Check) map[string]any {
	return map[string]any{"cause": c.ID, "title": c.Title, "explanation": strings.TrimSpace(c.Doc), "needs": c.Needs, "named_from": c.Least, "thresholds": c.Thresholds}
}

type recordIn struct {
	Target  string `json:"target" jsonschema:"a process id or name, docker://NAME, container:ID, pod/NAME, or the URL of a Go service's net/http/pprof"`
	Seconds int    `json:"seconds,omitempty" jsonschema:"how long to record, 1 to 120; 30 by default"`
	Passive bool   `json:"passive,omitempty" jsonschema:"switch nothing on in the process, only read"`
}

// mostSeconds bounds how long an assistant may have something recorded.
const mostSeconds = 120

func (a *server) recordTarget(ctx context.Context, in recordIn) (answer, error) {
	if in.Seconds == 0 {
		in.Seconds = 30
	}
	if in.Seconds < 1 || in.Seconds > mostSeconds {
		return answer{}, fmt.Errorf("seconds: give 1 to %d", mostSeconds)
	}
	if in.Target == "" {
		return answer{}, errors.New("target: give a process id or name: the tool list has those that run here")
	}
	name, said, err := a.opt.Record(ctx, in.Target, time.Duration(in.Seconds)*time.Second, in.Passive)
	if err != nil {
		return answer{}, err
	}
	a.addResource(name)
	lines := slices.DeleteFunc(strings.Split(said, "\n"), func(l string) bool { return strings.TrimSpace(l) == "" })
	return answer{said: map[string]any{"next": "diagnose the capture"}, recorded: map[string]any{"capture": name, "said": lines}}, nil
}

// renderReport returns the report on a file, in Markdown.
func (a *server) renderReport(ctx context.Context, name string) (string, error) {
	d, err := a.shelf.Diagnose(ctx, []string{name}, diagnose.Options{})
	if err != nil {
		return "", err
	}
	var text bytes.Buffer
	if err := markdown.Report(&text, d); err != nil {
		return "", err
	}
	return strings.ReplaceAll(text.String(), "<", "&lt;"), nil
}
