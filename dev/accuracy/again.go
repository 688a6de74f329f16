package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// diagnoseKept diagnoses again what is kept in a folder. It uses today's answers, which may have been
// corrected.
func diagnoseKept(ctx context.Context, o options) (cases []Case, err error) {
	now := map[string]*Known{}
	if services, err := readServices(o.dir); err == nil {
		for i := range services {
			now[services[i].Name] = &services[i].Known
		}
	} else {
		logLine("warning: the answers are those of when it was recorded: %v", err)
	}
	all, err := readKept(o.again)
	if err != nil {
		return nil, err
	}
	all = append(all, handMadeCaptures(o.again, all, now)...)
	for _, k := range all {
		if !o.only.MatchString(k.Service) || k.Lab != nil && o.noLabs {
			continue
		}
		if known := now[k.Service]; known != nil && k.Known != nil {
			k.Known.Answer, k.Known.Healthy, k.About = known.Answer, known.Healthy, known.About
		}
		c := judgeRun(ctx, o, o.again, k)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		logLine("%s", c)
		cases = append(cases, c)
	}
	if len(cases) == 0 {
		return nil, fmt.Errorf("%s: there is no capture that was kept with its answer", o.again)
	}
	return cases, nil
}

// readKept reads the descriptions that were written beside captures.
func readKept(dir string) (all []*Kept, err error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		k := new(Kept)
		if json.Unmarshal(text, k) != nil || k.Service == "" || k.Run == 0 {
			continue // another file
		}
		all = append(all, k)
	}
	return all, nil
}

// handMadeCaptures returns the captures in dir that have a service's name and no description
// beside them: they were made by hand.
func handMadeCaptures(dir string, all []*Kept, known map[string]*Known) (more []*Kept) {
	for _, name := range slices.Sorted(maps.Keys(known)) {
		capture := fileStem(name, 1) + ".unstall"
		if _, err := os.Stat(filepath.Join(dir, capture)); err != nil || slices.ContainsFunc(all, func(k *Kept) bool { return k.Capture == capture }) {
			continue
		}
		of := *known[name]
		k := &Kept{Service: name, Run: 1, Known: &of, About: of.About, Runtime: of.Runtime, SLO: of.SLO, Capture: capture}
		if of.Rows {
			rows, _ := filepath.Glob(filepath.Join(dir, fileStem(name, 1)+".requests-*.txt")) // the pattern is well-formed
			for _, file := range rows {
				k.Rows = append(k.Rows, strings.TrimPrefix(file, dir+string(filepath.Separator)))
			}
		}
		more = append(more, k)
	}
	return more
}
