package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/unstall/unstall/internal/diagnose"
)

// p99Of is the suffix of predictions about the 99th percentile.
const p99Of = "p99_ms"

// measureFixes compares what the first verdict of each sick service predicts with the clients' results without the fault. It writes a
// row of a Markdown table for each, in the order of their names.
func measureFixes(ctx context.Context, o options) (pass bool, err error) {
	services, err := chosenServices(o, nil)
	if err != nil {
		return false, err
	}
	if o.keep, err = os.MkdirTemp("", "unstall-fixes-"); err != nil {
		return false, err
	}
	defer os.RemoveAll(o.keep)
	o.bothRows = true
	fmt.Println("| service | found first | p99 with the fault, ms | predicted (range) | without the fault | predicted ÷ measured |\n|---|---|---|---|---|---|")
	pass = true
	for _, s := range services {
		if s.Known.Healthy {
			continue
		}
		row, err := s.compareFix(ctx, o)
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		if err != nil {
			pass, row = false, err.Error()
		}
		fmt.Printf("| %s | %s |\n", s.Name, row)
	}
	return pass, nil
}

// compareFix records a service with its fault and then without it, and writes the rest of its row.
func (s service) compareFix(ctx context.Context, o options) (row string, err error) {
	sick, err := p99Recorded(ctx, o, s)
	if err != nil {
		return "", err
	}
	without, err := p99Recorded(ctx, o, s.withoutFault())
	if err != nil {
		return "", err
	}
	if len(sick.Verdicts) == 0 {
		return fmt.Sprintf("%s | %s | — | %s | —", nothing, formatMilliseconds(sick.Requests.P99Ms), formatMilliseconds(without.Requests.P99Ms)), nil
	}
	first, said, ratio := &sick.Verdicts[0], "none", "—"
	for _, p := range first.Prediction {
		if !strings.HasSuffix(p.ID, p99Of) || p.Then == nil || p.Fix != nil && *p.Fix != 0 {
			continue
		}
		said = fmt.Sprintf("%s (%s–%s)", formatMilliseconds(p.Then), formatMilliseconds(p.Low), formatMilliseconds(p.High))
		if measured := without.Requests.P99Ms; measured != nil {
			ratio = fmt.Sprintf("%.2g", *p.Then/(*measured))
		}
		break
	}
	return fmt.Sprintf("%s | %s | %s | %s | %s", first.Cause, formatMilliseconds(sick.Requests.P99Ms), said, formatMilliseconds(without.Requests.P99Ms), ratio), nil
}

// p99Recorded records a service under its load and diagnoses it with a row for each request, from which its p99 is computed.
func p99Recorded(ctx context.Context, o options, s service) (*diagnose.Diagnosis, error) {
	k := recordService(ctx, o, s, 1)
	if k.Error != "" || k.Skipped != "" {
		return nil, errors.New(k.Error + k.Skipped)
	}
	args := k.diagnoseArgs(o.keep)
	for _, rows := range k.Rows {
		args = append(args, "--requests", filepath.Join(o.keep, rows))
	}
	d, err := runDiagnose(ctx, o.binary, args)
	if err == nil && (d.Requests == nil || d.Requests.P99Ms == nil) {
		err = errors.New("its rows tell no 99th percentile")
	}
	return d, err
}
