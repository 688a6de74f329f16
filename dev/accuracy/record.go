package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/lab"
	"github.com/unstall/unstall/lab/process"
)

// Kept is the description beside a capture: all that is needed to judge a diagnosis of
// it again.
type Kept struct {
	Service string        `json:"service"`
	Run     int           `json:"run"`
	Known   *Known        `json:"known,omitempty"`
	Lab     *lab.Expected `json:"lab,omitempty"` // of a lab's variant
	About   string        `json:"about"`
	Runtime string        `json:"runtime"`
	SLO     duration      `json:"slo"`
	Capture string        `json:"capture"` // names of files beside this one
	Rows    []string      `json:"rows,omitempty"`
	Files   string        `json:"files,omitempty"` // the folder of files that users have without a recording
	Load    []Served      `json:"load,omitempty"`
	// Addresses are those of the service ("") and of what ran beside it, by name.
	Addresses map[string]string `json:"addresses,omitempty"`
	Others    float64           `json:"others_share"`            // of the host's CPUs, during the recording
	Busy      int               `json:"busy_programs,omitempty"` // programs that computed all the time beside it
	Seconds   float64           `json:"seconds"`                 // of the whole run
	Notes     []string          `json:"notes,omitempty"`
	Error     string            `json:"error,omitempty"` // why it could not be run
	Skipped   string            `json:"skipped,omitempty"`
	Recorded  time.Time         `json:"recorded"`
	Said      *Said             `json:"said,omitempty"`
}

// Said is the judgement of a service when it was recorded, by the binary of that time.
type Said struct {
	First string `json:"first"`
	Right bool   `json:"right"`
	Files string `json:"first_of_files,omitempty"` // found in files alone
	// Bare is what was found without rows of requests, if that was chosen.
	Bare      string `json:"first_without_rows,omitempty"`
	BareRight *bool  `json:"right_without_rows,omitempty"`
	Tool      string `json:"tool_version"`
}

// Served is the clients' result.
type Served struct {
	Offered int64    `json:"offered"`
	Served  int64    `json:"served"`
	P50Ms   *float64 `json:"p50_ms"`
	P99Ms   *float64 `json:"p99_ms"`
	MaxMs   *float64 `json:"max_ms"`
	Limited bool     `json:"generator_limited"`
}

// fileStem returns the first part of the names of a run's files.
func fileStem(name string, run int) string {
	name = strings.ReplaceAll(name, "/", "-")
	if run > 1 {
		name += "-" + strconv.Itoa(run)
	}
	return name
}

// runAndJudge runs a service and judges its diagnosis. If the judgement is wrong and
// other programs used the host, it runs the service again.
func runAndJudge(ctx context.Context, o options, s service, run int) (c Case) {
	for try := 1; ; try++ {
		k := recordService(ctx, o, s, run)
		if ctx.Err() != nil {
			return c
		}
		c = judgeRun(ctx, o, o.keep, k)
		if err := k.saidOf(ctx, o, &c); err != nil {
			c.Error = err.Error()
		}
		if c.Right || k.Error != "" || k.Skipped != "" || k.Others < spoilt || try >= o.tries {
			return c
		}
		logLine("%s: others used %.0f %% of the host: trying again", c, 100*k.Others)
	}
}

// spoilt is the share of the host's CPUs from which other programs disturb a recording.
const spoilt = .1

// recordService runs a service under its load, records it, and keeps the result.
func recordService(ctx context.Context, o options, s service, run int) *Kept {
	began := time.Now()
	k := &Kept{Service: s.Name, Run: run, Known: &s.Known, About: s.Known.About, Runtime: s.Known.Runtime, SLO: s.Known.SLO, Recorded: began.UTC(), Busy: o.busy}
	for _, old := range []string{".unstall", ".json"} {
		os.Remove(filepath.Join(o.keep, fileStem(s.Name, run)+old))
	}
	notes, err := withService(ctx, o, s, func(st *stage) error { return st.recordUnderLoad(ctx, k) })
	k.Notes, k.Seconds = append(k.Notes, notes...), time.Since(began).Seconds()
	switch {
	case errors.Is(err, errSkip):
		k.Skipped = err.Error()
	case err != nil:
		k.Error = err.Error()
	}
	if err := k.writeFile(o.keep); err != nil && k.Error == "" {
		k.Error = err.Error()
	}
	return k
}

// saidOf keeps the judgement of the recording binary, in the case, too: after a later binary diagnoses the capture
// again, this is still the result of rules that had not met the service.
func (k *Kept) saidOf(ctx context.Context, o options, c *Case) error {
	if !c.wasDiagnosed() {
		return nil
	}
	k.Said = &Said{First: c.First(), Right: c.Right, Tool: toolVersion(ctx, o.binary)}
	if c.Files != nil {
		k.Said.Files = c.Files.First()
	}
	if c.Bare != nil && c.Bare.wasDiagnosed() {
		k.Said.Bare, k.Said.BareRight = c.Bare.First(), &c.Bare.Right
	}
	c.Said = k.Said
	return k.writeFile(o.keep)
}

func (k *Kept) writeFile(dir string) error {
	text, err := json.MarshalIndent(k, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, fileStem(k.Service, k.Run)+".json"), append(text, '\n'), 0o644)
}

// lastLook is how long clients stay after the recording, until the probes have finished.
const lastLook = 3 * time.Second

// recordUnderLoad warms the service up and records it under its load.
func (st *stage) recordUnderLoad(ctx context.Context, k *Kept) error {
	if err := st.warmUp(ctx, k.Run); err != nil {
		return err
	}
	if err := st.startCompetitors(); err != nil {
		return err
	}
	lasts := st.Known.Record.Duration + lastLook
	if st.takesFiles() {
		lasts += filesLast
	}
	var senders []*sender
	defer func() {
		for _, x := range senders {
			x.Stop()
		}
	}()
	for n, d := range st.Known.Load {
		x, err := st.startLoad(n, d, lasts, false, k.Run)
		if err != nil {
			return err
		}
		senders = append(senders, x)
	}
	if st.takesFiles() {
		if err := st.takeFiles(ctx, k); err != nil {
			return err
		}
	}
	args := []string{"record", strconv.Itoa(st.target.PID)}
	for _, name := range st.Known.Recorded {
		args = append(args, strconv.Itoa(st.named[name].PID))
	}
	k.Capture = fileStem(k.Service, k.Run) + ".unstall"
	var err error
	k.Others, err = st.othersCPUShare(func() (float64, error) {
		used, err := st.runUnstall(ctx, "record", append(args, "--for", st.Known.Record.String(), "--capture", filepath.Join(st.keep, k.Capture))...)
		for _, x := range senders {
			if e := x.Wait(ctx); err == nil {
				err = e
			}
			used += x.CPU()
		}
		return used, err
	})
	if err == nil {
		err = st.checkAlive()
	}
	if err != nil {
		return err
	}
	return st.keepResults(k, senders)
}

// warmUp puts the load on the service without recording it.
func (st *stage) warmUp(ctx context.Context, seed int) (err error) {
	var senders []*sender
	for n, d := range st.Known.Load {
		x, e := st.startLoad(n, d, st.Known.Warm.Duration, true, seed)
		if e != nil {
			err = e
			break
		}
		senders = append(senders, x)
	}
	for _, x := range senders {
		if e := x.Wait(ctx); err == nil {
			err = e
		}
	}
	if err == nil && len(senders) == 0 { // separate programs are its clients
		select {
		case <-time.After(st.Known.Warm.Duration):
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	return err
}

// runUnstall runs the binary, which may report that it could not read everything; used is its CPU
// time, s.
func (st *stage) runUnstall(ctx context.Context, name string, args ...string) (used float64, err error) {
	log := filepath.Join(st.dir, name+".log")
	p, err := process.Launch(process.Spec{Bin: st.binary, Args: args, Env: os.Environ(), Dir: st.dir, Log: log})
	if err != nil {
		return 0, err
	}
	err = p.Wait(ctx)
	return p.CPU(), err
}

// keepResults keeps the results of the clients.
func (st *stage) keepResults(k *Kept, senders []*sender) error {
	k.Addresses = st.addresses
	for n, x := range senders {
		r, err := x.readResult()
		if err != nil {
			return err
		}
		k.Load = append(k.Load, Served{r.Offered, r.Completed, r.Latency.P50, r.Latency.P99, r.Latency.Max, r.GeneratorLimited})
		if r.GeneratorLimited {
			k.Notes = append(k.Notes, fmt.Sprintf("%s: the generator itself was slow", x.Name))
		}
		if st.takesRows() {
			name := fmt.Sprintf("%s.requests-%d.txt", fileStem(k.Service, k.Run), n+1)
			if err := copyFile(x.rows, filepath.Join(st.keep, name)); err != nil {
				return err
			}
			k.Rows = append(k.Rows, name)
		}
	}
	return nil
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// takesRows says whether a row of each request is kept.
func (st *stage) takesRows() bool { return st.Known.Rows || st.bothRows }
