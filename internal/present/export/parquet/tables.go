package parquet

import (
	"strings"
	"time"

	"github.com/unstall/unstall/internal/diagnose"
)

// The rows of the tables. Names, units and meanings are those of the JSON form (docs/json.md);
// docs/export.md lists the columns. Times are µs since the epoch in UTC, as Spark reads no ns.

// runRow is a row of runs: one for each run, also for a run without a diagnosis.
type runRow struct {
	Run         string      `parquet:"run"`
	Files       []string    `parquet:"files,list"`
	Host        *string     `parquet:"host,optional"`
	Error       *string     `parquet:"error,optional"`
	ToolVersion *string     `parquet:"tool_version,optional"`
	Start       *time.Time  `parquet:"start,optional,timestamp(microsecond)"`
	End         *time.Time  `parquet:"end,optional,timestamp(microsecond)"`
	Duration    *float64    `parquet:"duration_s,optional"`
	Outcome     *string     `parquet:"outcome,optional"`
	RankedBy    *string     `parquet:"ranked_by,optional"`
	Requests    *int64      `parquet:"requests,optional"`
	Unfinished  *int64      `parquet:"unfinished,optional"`
	Failed      *int64      `parquet:"failed,optional"`
	Slow        *int64      `parquet:"slow,optional"`
	Threshold   *float64    `parquet:"slow_threshold_ms,optional"`
	Rule        *string     `parquet:"slow_rule,optional"`
	SlowTotal   *float64    `parquet:"slow_total_ms,optional"`
	Rate        *float64    `parquet:"rate,optional"`
	P50         *float64    `parquet:"p50_ms,optional"`
	P99         *float64    `parquet:"p99_ms,optional"`
	P999        *float64    `parquet:"p999_ms,optional"`
	Targets     []targetRow `parquet:"targets,list"`
	Warnings    []string    `parquet:"warnings,list"`
}

type targetRow struct {
	ID        string  `parquet:"id"`
	Kind      string  `parquet:"kind"`
	Name      *string `parquet:"name,optional"`
	PID       *int64  `parquet:"pid,optional"`
	Runtime   *string `parquet:"runtime,optional"`
	Version   *string `parquet:"version,optional"`
	Container *string `parquet:"container,optional"`
}

// ledgerRow is a row of ledger: the slow request time charged to one mechanism. The rows of a run
// add up to its slow_total_ms.
type ledgerRow struct {
	Run       string   `parquet:"run"`
	Subject   string   `parquet:"subject,dict"`
	Mechanism string   `parquet:"mechanism,dict"`
	Title     string   `parquet:"title,dict"`
	Detail    *string  `parquet:"detail,optional"`
	SlowMs    float64  `parquet:"slow_ms"`
	Low       *float64 `parquet:"low,optional"`
	High      *float64 `parquet:"high,optional"`
	Basis     *string  `parquet:"basis,optional,dict"`
	Method    string   `parquet:"method,dict"`
}

// verdictRow is a row of verdicts: what was found about one cause.
type verdictRow struct {
	Run        string          `parquet:"run"`
	Rank       int32           `parquet:"rank"`
	Cause      string          `parquet:"cause,dict"`
	Subject    string          `parquet:"subject,dict"`
	Step       string          `parquet:"step,dict"`
	Verdict    string          `parquet:"verdict,dict"`
	Title      string          `parquet:"title"`
	Summary    *string         `parquet:"summary,optional"`
	Saves      *float64        `parquet:"saves_ms,optional"`
	SavesLow   *float64        `parquet:"saves_low_ms,optional"`
	SavesHigh  *float64        `parquet:"saves_high_ms,optional"`
	SavesBasis *string         `parquet:"saves_basis,optional,dict"`
	Evidence   []evidenceRow   `parquet:"evidence,list"`
	Needs      []string        `parquet:"needs,list"`
	Fix        []fixRow        `parquet:"fix,list"`
	Prediction []predictionRow `parquet:"prediction,list"`
}

type evidenceRow struct {
	ID     *string  `parquet:"id,optional"`
	Text   string   `parquet:"text"`
	Value  *float64 `parquet:"value,optional"`
	Unit   string   `parquet:"unit"`
	Origin string   `parquet:"origin"`
	Source *string  `parquet:"source,optional"`
}

type fixRow struct {
	Text    string  `parquet:"text"`
	Setting *string `parquet:"setting,optional"`
	Code    *string `parquet:"code,optional"`
}

type predictionRow struct {
	ID     string   `parquet:"id"`
	Fix    *int32   `parquet:"fix_index,optional"`
	Metric string   `parquet:"metric"`
	Unit   string   `parquet:"unit"`
	Now    *float64 `parquet:"now,optional"`
	Then   *float64 `parquet:"then,optional"`
	Low    *float64 `parquet:"low,optional"`
	High   *float64 `parquet:"high,optional"`
}

// newRunRow returns the run's row of runs.
func (r *Run) newRunRow() *runRow {
	row := &runRow{Run: r.ID, Files: r.Files, Host: textOrNil(r.Host)}
	if r.Err != nil {
		row.Error = textOrNil(strings.TrimSpace(r.Err.Error()))
	}
	d := r.diagnosis
	if d == nil {
		return row
	}
	row.ToolVersion, row.Outcome, row.RankedBy = textOrNil(d.ToolVersion), textOrNil(d.Outcome), textOrNil(d.RankedBy)
	row.Start, row.End, row.Duration = d.Window.Start, d.Window.End, d.Window.Duration
	if q := d.Requests; q != nil {
		row.Requests, row.Unfinished, row.Failed, row.Slow = int64Ptr(q.Count), int64Ptr(q.Unfinished), int64Ptr(q.Failed), int64Ptr(q.Slow)
		row.Threshold, row.Rule, row.SlowTotal = q.SlowThresholdMs, textOrNil(q.SlowRule), &q.SlowTotalMs
		row.Rate, row.P50, row.P99, row.P999 = q.Rate, q.P50Ms, q.P99Ms, q.P999Ms
	}
	for _, t := range d.Targets {
		x := targetRow{ID: t.ID, Kind: t.Kind, Name: textOrNil(t.Name), Runtime: textOrNil(t.Runtime), Version: textOrNil(t.Version), Container: textOrNil(t.Container)}
		if t.PID != nil {
			x.PID = int64Ptr(*t.PID)
		}
		row.Targets = append(row.Targets, x)
	}
	for _, w := range d.Warnings {
		row.Warnings = append(row.Warnings, w.Text)
	}
	return row
}

// ledgerRows returns the run's rows of ledger.
func (r *Run) ledgerRows() (rows []*ledgerRow) {
	for _, e := range r.ledgerEntries() {
		rows = append(rows, &ledgerRow{r.ID, e.Subject, e.Mechanism, e.Title, textOrNil(e.Detail), e.SlowMs, e.Low, e.High, e.Basis, e.Method})
	}
	return rows
}

func (r *Run) ledgerEntries() []diagnose.Entry {
	if r.diagnosis == nil {
		return nil
	}
	return r.diagnosis.Ledger
}

// verdictRows returns the run's rows of verdicts, in order of rank from 1.
func (r *Run) verdictRows() (rows []*verdictRow) {
	if r.diagnosis == nil {
		return nil
	}
	for n := range r.diagnosis.Verdicts {
		v := &r.diagnosis.Verdicts[n]
		row := &verdictRow{Run: r.ID, Rank: int32(n + 1), Cause: v.Cause, Subject: v.Subject, Step: string(v.Step), Verdict: v.Verdict, Title: v.Title, Summary: textOrNil(v.Summary)}
		if s := v.Saves; s != nil {
			row.Saves, row.SavesLow, row.SavesHigh, row.SavesBasis = &s.Value, s.Low, s.High, s.Basis
		}
		for _, e := range v.Evidence {
			row.Evidence = append(row.Evidence, evidenceRow{textOrNil(e.ID), e.Text, e.Value, e.Unit, e.Origin, textOrNil(e.Source)})
		}
		for _, n := range v.Needs {
			row.Needs = append(row.Needs, n.String())
		}
		for _, f := range v.Fix {
			row.Fix = append(row.Fix, fixRow{f.Text, textOrNil(f.Setting), textOrNil(f.Code)})
		}
		for _, p := range v.Prediction {
			x := predictionRow{ID: p.ID, Metric: p.Metric, Unit: p.Unit, Now: p.Now, Then: p.Then, Low: p.Low, High: p.High}
			if p.Fix != nil {
				of := int32(*p.Fix)
				x.Fix = &of
			}
			row.Prediction = append(row.Prediction, x)
		}
		rows = append(rows, row)
	}
	return rows
}

// textOrNil returns a pointer to a text, nil for "".
func textOrNil(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func int64Ptr(n int) *int64 {
	v := int64(n)
	return &v
}
