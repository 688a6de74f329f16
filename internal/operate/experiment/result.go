package experiment

import (
	"time"

	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/operate/compare"
)

// Schema is the version of the JSON form of a [Result]. Keys are added, never renamed.
const Schema = "unstall.try/v1"

// Result is what a change did while it was tried.
type Result struct {
	Schema      string `json:"schema"`
	ToolVersion string `json:"tool_version"`

	Setting string `json:"setting"` // its name: "thp"
	File    string `json:"file"`    // that was written, "" none
	Affects string `json:"affects"`
	Host    bool   `json:"host"`
	Was     string `json:"was"`
	Tried   string `json:"tried"`

	Target Target `json:"target"`
	Window Window `json:"window"`

	Blocks  int     `json:"blocks"` // that were whole
	Planned int     `json:"planned_blocks"`
	TurnS   float64 `json:"turn_s"`
	SettleS float64 `json:"settle_s"` // of each turn, before anything counted
	Seed    uint64  `json:"seed"`
	Early   string  `json:"ended_early"` // why, "" it did not

	Restored   *Restored           `json:"restored"` // null: it could not be put back
	Comparison *compare.Comparison `json:"comparison"`
	Capture    string              `json:"capture"` // what was recorded meanwhile
}

// Target is the process that was measured.
type Target struct {
	Name    string `json:"name"`
	PID     int    `json:"pid"`
	Runtime string `json:"runtime"`
	Version string `json:"version"`
}

// Window is when it was tried.
type Window struct {
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`
}

// NewResult returns the result of a try as far as it is known before anything is measured.
func (c *Change) NewResult(t discover.Target, p Plan) *Result {
	return &Result{Schema: Schema, Setting: c.Place.Name, File: c.Place.File, Affects: c.Place.Affects, Host: c.Setting.Host, Was: c.Was, Tried: c.Tried,
		Target:  Target{Name: t.Name, PID: t.PID, Runtime: t.Runtime, Version: t.Version},
		Planned: p.Blocks, TurnS: p.Turn.Seconds(), SettleS: p.Settle.Seconds(), Seed: p.Seed}
}

// Compare compares the runs of what was tried with those of what was there.
func (r *Result) Compare(was, tried []compare.Run) error {
	r.Blocks = min(len(was), len(tried))
	c, err := compare.Compare(was, tried, compare.Options{Before: r.Setting + "=" + r.Was, After: r.Setting + "=" + r.Tried, InTurn: true})
	if err != nil {
		return err
	}
	c.Seed = &r.Seed
	r.Comparison = c
	return nil
}
