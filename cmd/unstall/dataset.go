package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/heapgrowth"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/present/export/parquet"
	"github.com/unstall/unstall/internal/present/export/place"
)

// mostAtOnce is how many runs are read at the same time; each is in memory as a whole.
const mostAtOnce = 4

// exportDataset writes parquet tables of each file, or of all files together. Ctrl-C ends it early; it then writes what was read
// so far.
func (c *exportCommand) exportDataset(s *session) error {
	switch {
	case c.What != "":
		return fmt.Errorf("--what %s: not for a parquet export", c.What)
	case c.Table != "":
		return fmt.Errorf("--table %s: a parquet export writes all its tables", c.Table)
	case c.SLO != nil && *c.SLO <= 0:
		return fmt.Errorf("--slo %s: give a time above zero", *c.SLO)
	case c.Output == "" || c.Output == "-":
		return errors.New("--to parquet writes several tables: add -o DIRECTORY or -o s3://BUCKET/PREFIX")
	case strings.EqualFold(filepath.Ext(c.Output), ".parquet"):
		return fmt.Errorf("-o %s: parquet writes several tables: give a directory or s3://BUCKET/PREFIX", c.Output)
	}
	to, err := place.Of(c.Output)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	if err := to.Check(ctx); err != nil {
		s.reportError(unreadable, err)
		return nil
	}
	beNice()
	heapgrowth.Spare()
	artifacts, done, errs := discover.Files(c.Files, s.in)
	defer done()
	s.reportUnresolved(errs)
	var groups [][]*format.Artifact
	for _, a := range artifacts {
		if c.Together && len(groups) > 0 {
			groups[0] = append(groups[0], a)
		} else {
			groups = append(groups, []*format.Artifact{a})
		}
	}
	if len(groups) > 0 {
		s.writeRuns(ctx, parquet.NewDataset(to), c.Output, groups, c.diagnoseOptions)
	}
	return nil
}

func (c *exportCommand) diagnoseOptions(b *evidence.Bundle) (diagnose.Options, error) {
	opt := diagnose.Options{Version: programVersion(), Since: c.Since.resolveTime(b), Until: c.Until.resolveTime(b)}
	if c.SLO != nil {
		opt.SLO = *c.SLO
	}
	if !opt.Since.IsZero() && !opt.Until.IsZero() && !opt.Since.Before(opt.Until) {
		return opt, errors.New("--since is not before --until")
	}
	return opt, nil
}

// writeRuns diagnoses the given files, some at the same time, and adds the runs in order.
func (s *session) writeRuns(ctx context.Context, to *parquet.Dataset, name string, groups [][]*format.Artifact, ask parquet.Ask) {
	next := make(chan chan *parquet.Run, min(runtime.GOMAXPROCS(0), mostAtOnce)-1)
	go func() {
		defer close(next)
		for _, g := range groups {
			one := make(chan *parquet.Run, 1)
			select {
			case next <- one:
			case <-ctx.Done():
				return
			}
			go func() { one <- parquet.Diagnose(ctx, g, ask) }()
		}
	}()
	var skipped []string
	all := context.WithoutCancel(ctx)
	for one := range next {
		r := <-one
		if ctx.Err() != nil {
			continue // interrupted: a partial run would give other figures
		}
		skipped = append(skipped, r.Skipped...)
		if len(r.Files) == 0 {
			continue
		}
		if r.Err != nil {
			s.reportError(unreadable, r.Err)
		}
		if as := to.Seen(r); as != "" {
			s.printNote("skipped %s: same content as %s", r.Files[0], as)
			continue
		}
		if err := to.Add(all, r); err != nil {
			s.reportError(unreadable, err)
			to.Abandon()
			return
		}
	}
	if len(skipped) > 0 {
		s.printNote("skipped: unknown format: %s", strings.Join(skipped, ", "))
	}
	if err := to.Close(all); err != nil {
		s.reportError(unreadable, err)
		return
	}
	if to.Parts > 0 {
		s.printNote("wrote %s: %s, %s, %s, %s", name, units.Plural(to.Rows["runs"], "run"), units.Plural(to.Rows["requests"], "request"),
			units.Plural(to.Rows["ledger"], "ledger row"), units.Plural(to.Rows["verdicts"], "verdict"))
	}
}
