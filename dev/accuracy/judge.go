package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/lab"
)

// Case is a service in one run: what was expected and what was found.
type Case struct {
	Service  string   `json:"service"`
	Run      int      `json:"run"`
	About    string   `json:"about"`
	Runtime  string   `json:"runtime"`
	Expected []string `json:"expected"`       // one of these first; empty: nothing
	Also     []string `json:"also,omitempty"` // these may be found beside it
	Healthy  bool     `json:"healthy"`
	Busy     int      `json:"busy_programs,omitempty"` // programs that computed beside it all the time
	Rows     bool     `json:"rows"`                    // the diagnosis was given a row for each request
	Found    []string `json:"found"`                   // supported, by rank
	Right    bool     `json:"right"`
	// FalseAlarm says that something was found that must not be.
	FalseAlarm bool   `json:"false_alarm"`
	Why        string `json:"why,omitempty"`   // it is wrong, or what was found beside the right cause
	Title      string `json:"title,omitempty"` // of the first verdict
	// Unknown is the share of slow time that is unexplained or unobserved, null where
	// no request was slow.
	Unknown *float64 `json:"unknown_share"`
	Seconds float64  `json:"seconds"`
	Others  float64  `json:"others_share"`
	Notes   []string `json:"notes,omitempty"`
	// Date is the day of the recording.
	Date    string `json:"date,omitempty"`
	Error   string `json:"error,omitempty"`
	Skipped string `json:"skipped,omitempty"`
	// Contradictions are what one figure of the diagnosis says against another.
	Contradictions []string `json:"contradictions,omitempty"`
	// Said is how it was judged when it was recorded, nil where that was not kept.
	Said *Said `json:"said_when_recorded,omitempty"`
	// Files is what was found in files that people have without a recording, nil where
	// there are none.
	Files *Case `json:"files,omitempty"`
	// Bare is what was found in the same recording without a row for each request, nil
	// where that was not asked.
	Bare *Case `json:"without_rows,omitempty"`
	// Halves are what was found in the first half of the recording alone and in the second; empty where that was not asked.
	Halves []Case `json:"halves,omitempty"`
}

// wasDiagnosed reports whether the service was diagnosed.
func (c *Case) wasDiagnosed() bool { return c.Error == "" && c.Skipped == "" }

// First returns the cause that was found first; "nothing" without any.
func (c *Case) First() string {
	if len(c.Found) == 0 {
		return nothing
	}
	return c.Found[0]
}

const nothing = "nothing"

// String returns the line that is printed during a run.
func (c Case) String() string {
	switch {
	case c.Skipped != "":
		return fmt.Sprintf("%s: skipped: %s", c.Service, c.Skipped)
	case c.Error != "":
		return fmt.Sprintf("%s: ERROR: %s", c.Service, c.Error)
	}
	verdict := "right"
	if !c.Right {
		verdict = "WRONG"
	}
	text := fmt.Sprintf("%s: %s: %s, unknown %s", c.Service, verdict, c.First(), formatPercent(c.Unknown))
	if c.Why != "" {
		text += ": " + c.Why
	}
	if c.Files != nil {
		one := *c.Files
		one.Service = "; from files alone"
		text += one.String()
	}
	if c.Bare != nil {
		one := *c.Bare
		one.Service = "; without rows"
		text += one.String()
	}
	for i, one := range c.Halves {
		one.Service = "; " + halves[i] + " half"
		text += one.String()
	}
	return text
}

var halves = [...]string{"first", "second"}

// judgeHalves judges each half of a recording alone: a fault that lasts is in both.
func judgeHalves(ctx context.Context, o options, args []string, whole *diagnose.Diagnosis, k *Kept, c Case) (out []Case) {
	if whole.Window.Start == nil || whole.Window.End == nil { // no clock tells the time of day
		return nil
	}
	middle := whole.Window.Start.Add(whole.Window.End.Sub(*whole.Window.Start) / 2).UTC().Format(time.RFC3339Nano)
	for _, part := range []string{"--until", "--since"} {
		one := c
		if d, err := runDiagnose(ctx, o.binary, append(slices.Clone(args), part, middle)); err != nil {
			one.Error = err.Error()
		} else {
			one.judgeDiagnosis(d, k)
		}
		out = append(out, one)
	}
	return out
}

// judgeRun diagnoses what was kept of a run and compares it with the known answer.
func judgeRun(ctx context.Context, o options, dir string, k *Kept) Case {
	c := Case{Service: k.Service, Run: k.Run, About: k.About, Runtime: k.Runtime, Found: []string{}, Expected: []string{},
		Busy: k.Busy, Seconds: k.Seconds, Others: k.Others, Notes: k.Notes, Error: k.Error, Skipped: k.Skipped, Rows: len(k.Rows) > 0, Said: k.Said}
	if !k.Recorded.IsZero() {
		c.Date = k.Recorded.UTC().Format(time.DateOnly)
	}
	if k.Known != nil {
		c.Expected, c.Also, c.Healthy = append(c.Expected, k.Known.Answer.First...), k.Known.Answer.Also, k.Known.Healthy
	}
	if k.Lab != nil {
		c.setExpected(*k.Lab)
	}
	if !c.wasDiagnosed() {
		return c
	}
	args := k.diagnoseArgs(dir)
	if o.bothRows && len(k.Rows) > 0 {
		bare := c
		if d, err := runDiagnose(ctx, o.binary, args); err != nil {
			bare.Error = err.Error()
		} else {
			bare.Rows = false
			bare.judgeDiagnosis(d, k)
		}
		c.Bare = &bare
	}
	for _, rows := range k.Rows {
		args = append(args, "--requests", filepath.Join(dir, rows))
	}
	d, err := runDiagnose(ctx, o.binary, args)
	if err != nil {
		c.Error = err.Error()
		return c
	}
	asked := c
	c.judgeDiagnosis(d, k)
	if o.halves {
		c.Halves = judgeHalves(ctx, o, args, d, k, asked)
	}
	c.Files = judgeFiles(ctx, o, dir, k)
	return c
}

// diagnoseArgs returns the arguments that diagnose a recording, without the rows of requests.
func (k *Kept) diagnoseArgs(dir string) []string {
	args := []string{"diagnose", filepath.Join(dir, k.Capture), "--format", "json"}
	if k.SLO.Duration > 0 {
		args = append(args, "--slo", k.SLO.String())
	}
	return args
}

// judgeFiles diagnoses what was kept beside the capture; nil where nothing was.
func judgeFiles(ctx context.Context, o options, dir string, k *Kept) *Case {
	if k.Files == "" {
		return nil
	}
	c := &Case{Service: k.Service, Run: k.Run, Found: []string{}, Expected: k.Known.Answer.First, Healthy: k.Known.Healthy}
	names, err := listFiles(filepath.Join(dir, k.Files))
	if err == nil {
		var d *diagnose.Diagnosis
		if d, err = runDiagnose(ctx, o.binary, append(append([]string{"diagnose"}, names...), "--format", "json")); err == nil {
			c.judgeDiagnosis(d, k)
		}
	}
	if err != nil {
		c.Error = err.Error()
	}
	return c
}

// runDiagnose runs the binary with arguments of unstall diagnose and returns the diagnosis.
func runDiagnose(ctx context.Context, binary string, args []string) (*diagnose.Diagnosis, error) {
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Stderr = &said
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && len(out) > 0) { // it prints what it could not read, and diagnoses the rest
		return nil, fmt.Errorf("unstall %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(said.Bytes()))
	}
	d := new(diagnose.Diagnosis)
	if err := json.Unmarshal(out, d); err != nil {
		return nil, fmt.Errorf("unstall %s: %w", strings.Join(args, " "), err)
	}
	return d, nil
}

// setExpected takes the expected answer from a lab's variant.
func (c *Case) setExpected(e lab.Expected) {
	switch {
	case e.First != "":
		c.Expected = []string{e.First}
	case len(e.AnyOf) > 0:
		c.Expected = e.AnyOf
	default:
		c.Healthy = true
	}
}

// judgeDiagnosis compares a diagnosis with the known answer.
func (c *Case) judgeDiagnosis(d *diagnose.Diagnosis, k *Kept) {
	c.Found = append(c.Found, lab.Supported(d)...)
	c.Unknown = unknownShare(d)
	c.Contradictions = d.Contradictions()
	if len(c.Found) > 0 {
		c.Title = d.Verdicts[0].Title
	}
	switch {
	case k.Lab != nil:
		c.Right = k.Lab.Met(d)
		c.FalseAlarm = c.Healthy && !c.Right
	case c.Healthy:
		c.Right = !slices.ContainsFunc(c.Found, func(id string) bool { return k.Busy == 0 || !isCrowding(id) })
		c.FalseAlarm = !c.Right
	default:
		c.judgeSick(d, k)
	}
	if c.FalseAlarm {
		c.Why = "nothing is wrong with it: " + c.Title
	}
}

// judgeSick compares the findings with the answer of a service that is not healthy. Causes
// beyond the known ones are noted and are no error.
func (c *Case) judgeSick(d *diagnose.Diagnosis, k *Kept) {
	a := k.Known.Answer
	if len(c.Found) == 0 {
		c.Why = "nothing found"
		return
	}
	first := 0
	if k.Busy > 0 && len(c.Found) > 1 && !slices.Contains(a.First, c.Found[0]) {
		first = 1 // behind the programs that take its CPUs
	}
	if !slices.Contains(a.First, c.Found[first]) {
		c.Why = c.Title
		return
	}
	said := strings.ToLower(verdictText(&d.Verdicts[first]))
	for _, words := range a.Names {
		words = k.expandAddresses(words)
		if !slices.ContainsFunc(strings.Split(strings.ToLower(words), "|"), func(w string) bool { return strings.Contains(said, w) }) {
			c.Why = fmt.Sprintf("it does not name %s: %s", strings.ReplaceAll(words, "|", " or "), c.Title)
			return
		}
	}
	told := strings.ToLower(toldText(&d.Verdicts[first]))
	for _, words := range a.Unsaid {
		if strings.Contains(told, strings.ToLower(k.expandAddresses(words))) {
			c.Why = fmt.Sprintf("it says %s: %s", words, c.Title)
			return
		}
	}
	for _, id := range c.Found {
		if slices.Contains(a.Never, id) {
			c.Why = "it also says " + id
			return
		}
	}
	c.Right = true
	var more []string
	for n, id := range c.Found {
		if n != first && !slices.Contains(a.First, id) && !slices.Contains(a.Also, id) {
			more = append(more, id)
		}
	}
	if len(more) > 0 {
		c.Why = "also " + strings.Join(more, ", ")
	}
}

// isCrowding says whether a cause is that other programs use the host's CPUs.
func isCrowding(id string) bool { return id == "linux.noisy-neighbour" || id == "linux.cpu-saturation" }

// expandAddresses replaces $ADDR_NAME by the address at which the program ran.
func (k *Kept) expandAddresses(words string) string {
	return os.Expand(words, func(name string) string {
		program, _ := strings.CutPrefix(name, "ADDR_")
		if at := k.Addresses[strings.ToLower(program)]; at != "" {
			return at
		}
		return "$" + name // that program has no address
	})
}

// verdictText returns all text of a verdict: its title, summary, evidence and fixes. The names of files are none of it: a recording has the name of its case.
func verdictText(v *diagnose.Verdict) string {
	said := slices.Clone(v.Evidence)
	for i := range said {
		said[i].Origin, said[i].Source = "", ""
	}
	return joinText(v.Title, v.Summary, said, v.Fix)
}

// toldText returns what a verdict claims and advises: its title and fixes. Its figures compare with other things, too.
func toldText(v *diagnose.Verdict) string { return joinText(v.Title, v.Fix) }

func joinText(parts ...any) string {
	text, err := json.Marshal(parts)
	if err != nil {
		return ""
	}
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(text))
}

// unknownShare returns the share of slow time that is unexplained or unobserved, nil if no request
// was slow.
func unknownShare(d *diagnose.Diagnosis) *float64 {
	if d.Requests == nil || d.Requests.SlowTotalMs <= 0 {
		return nil
	}
	share := 0.0
	for _, e := range d.Ledger {
		if e.Mechanism == ledger.Unexplained.String() || e.Mechanism == ledger.Unobserved.String() {
			share += e.SlowMs / d.Requests.SlowTotalMs
		}
	}
	return &share
}
