// Thresholds measures where the thresholds of the checks lie among recordings whose causes are known: it judges every recording
// again with a build of unstall that writes down each figure it compares, and writes margins.json.gz, from which docs/thresholds.md is made.
//
//	go run ./dev/thresholds                                          the recorded fixtures alone
//	go run ./dev/thresholds out/accuracy-kept out/stacks-kept        and folders of captures that dev/accuracy kept (-keep)
//	go run ./dev/thresholds -cases ../shared/corpus/cases out/...    and files that people posted, with what is known of them
//
// Its opinion: what a threshold is compared with is read from the code, not from what a verdict tells of itself, so that no
// threshold is left out; and a recording counts once for a threshold, however often a check compares.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := runCommand(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "thresholds:", err)
		os.Exit(1)
	}
}

func runCommand(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("thresholds", flag.ContinueOnError)
	out := f.String("o", filepath.Join("internal", "diagnose", "check", "all", "margins.json.gz"), "the file to write")
	cases := f.String("cases", "", "a folder of cases, each a folder with case.json and files")
	work := f.String("work", filepath.Join("out", "thresholds"), "folder for what is built")
	each := f.String("each", "", "also write the figure of each recording to this file, as CSV")
	if err := f.Parse(args); err != nil {
		return err
	}
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	if *work, err = filepath.Abs(*work); err != nil {
		return err
	}
	if err := os.MkdirAll(*work, 0o755); err != nil {
		return err
	}
	s, err := readSource(ctx, root)
	if err == nil {
		err = s.instrument()
	}
	if err != nil {
		return err
	}
	bin, err := s.buildInstrumented(ctx, root, *work)
	if err != nil {
		return err
	}
	j := &judge{binary: bin, work: *work}
	all, err := j.judgeFixtures(ctx, filepath.Join("internal", "diagnose", "check", "testdata"))
	if err != nil {
		return err
	}
	if *cases != "" {
		more, err := j.judgeCases(ctx, *cases)
		if err != nil {
			return err
		}
		all = append(all, more...)
	}
	for _, dir := range f.Args() {
		more, err := j.judgeKept(ctx, dir)
		if err != nil {
			return err
		}
		all = append(all, more...)
	}
	m := measureMargins(all, s.comparable)
	m.Date = time.Now().UTC().Format(time.DateOnly)
	if *each != "" {
		if err := writeEach(*each, all); err != nil {
			return err
		}
	}
	return writeMargins(*out, m)
}
