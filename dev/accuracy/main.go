// Accuracy measures how often the first verdict is right on small services that the checks were not
// written for. It starts each service of lab/accuracy, puts its load on it, records it with
// the binary as a user would, and compares the diagnosis with the known answer.
//
//	go run ./dev/accuracy                            all services and the labs' variants
//	go run ./dev/accuracy -only redis -keep out/x    some, and their captures are kept
//	go run ./dev/accuracy -no-labs -draw 7 -take 60 -sittings out/x.jsonl    60 more of all, drawn by lot, that out/x.jsonl does not have
//	go run ./dev/accuracy -only redis -files         also from what redis-cli and its log say, without a recording
//	go run ./dev/accuracy -again out/x               the captures kept are diagnosed anew
//	go run ./dev/accuracy -again out/x -halves      … and each half of them alone: the verdict should be the same
//	go run ./dev/accuracy -faults 15s -only redis    what clients get with each fault and without it
//	go run ./dev/accuracy -dir lab/stacks -fixes                    what fixes are predicted to do, and what is measured
//	go run ./dev/accuracy -dir lab/stacks -costs 8s                 what recording costs healthy services
//	go run ./dev/accuracy -dir lab/stacks -no-labs -rows both    real frameworks and databases, with rows of requests and without
//	go run ./dev/accuracy -dir lab/stacks -no-labs -rows both -busy 2    the same on a host whose CPUs others use
//	go run ./dev/accuracy -watch -only redis         some are watched: are there alarms, and of what are their captures?
//
// Its opinion: the answer is written before the service runs, in known.json, and the
// diagnosis gets only a PID. The table shows every question with its result: wrong
// answers and services that could not be run are in it like the right ones.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// options are the user's choices.
type options struct {
	dir      string // of the services
	only     *regexp.Regexp
	draw     uint64 // services run in an order drawn by this seed; 0: in the order of their names
	sittings string // file with the cases of earlier sittings of this run
	take     int    // how many services run at most; 0: all
	runs     int
	tries    int
	keep     string
	again    string
	binary   string
	format   string
	out      string
	noLabs   bool
	files    bool
	bothRows bool // judged with a row for each request and without
	halves   bool // judged also by each half of the recording
	watch    bool
	busy     int // programs that compute beside the recorded service
	faults   time.Duration
	fixes    bool
	costs    time.Duration
	work     string // folder for builds
	patience time.Duration
}

// ready is how long a service may take until it accepts connections.
const ready = 60 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	pass, err := runCommand(ctx, os.Args[1:])
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "accuracy:", err)
		os.Exit(2)
	case !pass:
		os.Exit(1)
	}
}

func runCommand(ctx context.Context, args []string) (pass bool, err error) {
	o := options{patience: ready}
	only, rows := "", ""
	f := flag.NewFlagSet("accuracy", flag.ContinueOnError)
	f.StringVar(&o.dir, "dir", filepath.Join("lab", "accuracy"), "folder of the services")
	f.StringVar(&only, "only", "", "run only services and variants of labs (LAB/VARIANT) whose names match this regular expression")
	f.Uint64Var(&o.draw, "draw", 0, "run the services in an order drawn by lot with this seed: what has run is a fair sample at any time")
	f.StringVar(&o.sittings, "sittings", "", "make the run in sittings: leave out what this file of earlier ones has, add to it what is judged, and tell of all of them")
	f.IntVar(&o.take, "take", 0, "run at most this many services")
	f.IntVar(&o.runs, "runs", 1, "how often to run everything")
	f.IntVar(&o.tries, "tries", 1, "how often to run a service that was judged wrongly while other programs used the host")
	f.StringVar(&o.keep, "keep", "", "keep captures, what was said of them and what was expected in this folder")
	f.StringVar(&o.again, "again", "", "run nothing: diagnose the captures kept in this folder")
	f.StringVar(&o.binary, "unstall", "", "the unstall to ask (default: it is built)")
	f.StringVar(&o.format, "format", "", "text or json (default: by the name of the output file)")
	f.StringVar(&o.out, "o", "", "also write the result to this file")
	f.BoolVar(&o.noLabs, "no-labs", false, "leave out the labs' variants, which take ten to twenty minutes each")
	f.BoolVar(&o.files, "files", false, "also judge what is said of files that people have without a recording, where a runtime has such")
	f.StringVar(&rows, "rows", "", "both: judge each recording with a row for each request and without (default: as known.json says)")
	f.BoolVar(&o.halves, "halves", false, "also judge the first half of each recording alone, and the second")
	f.IntVar(&o.busy, "busy", 0, "how many programs compute all the time beside each service while it is recorded: its cause must be among the first two")
	f.BoolVar(&o.watch, "watch", false, "watch the services instead, as unstall watch does, and say what alarms there were")
	f.DurationVar(&o.faults, "faults", 0, "record nothing: put the load on for this long with each service's fault and without, and say what clients got")
	f.BoolVar(&o.fixes, "fixes", false, "hold what the first verdict of each sick service predicts against what clients get without the fault")
	f.DurationVar(&o.costs, "costs", 0, "put the load on each healthy service for this long, again and again, recorded and not, and say what that costs")
	f.StringVar(&o.work, "work", filepath.Join("out", "accuracy"), "folder for what is built")
	if err := f.Parse(args); err != nil {
		return false, err
	}
	if o.only, err = regexp.Compile(only); err != nil {
		return false, fmt.Errorf("-only: %w", err)
	}
	if o.bothRows = rows == "both"; rows != "" && !o.bothRows {
		return false, fmt.Errorf("-rows %s: give both, or leave it out", rows)
	}
	switch o.format {
	case "":
		o.format = "text"
		if strings.HasSuffix(o.out, ".json") {
			o.format = "json"
		}
	case "text", "json":
	default:
		return false, fmt.Errorf("-format %s: there is no such form: give text or json", o.format)
	}
	if f.NArg() > 0 || o.runs < 1 || o.tries < 1 || o.busy < 0 || o.take < 0 {
		return false, errors.New("give flags only, and at least one run: go run ./dev/accuracy -h")
	}
	return runAccuracy(ctx, o)
}

func runAccuracy(ctx context.Context, o options) (pass bool, err error) {
	if o.work, err = filepath.Abs(o.work); err != nil {
		return false, err
	}
	if o.binary, err = buildUnstall(ctx, o); err != nil {
		return false, err
	}
	if o.watch {
		return watchAll(ctx, o)
	}
	switch {
	case o.faults > 0:
		return measureFaults(ctx, o)
	case o.fixes:
		return measureFixes(ctx, o)
	case o.costs > 0:
		return measureCosts(ctx, o)
	}
	var earlier, cases []Case
	if o.sittings != "" {
		if earlier, err = readSittings(o.sittings); err != nil {
			return false, err
		}
	}
	if o.again != "" {
		cases, err = diagnoseKept(ctx, o)
	} else {
		cases, err = runAll(ctx, o, earlier)
	}
	if err != nil {
		return false, err
	}
	r := resultOf(joinSittings(earlier, cases))
	r.Date, r.Tool, r.Machine, r.Again = time.Now().UTC(), toolVersion(ctx, o.binary), thisMachine(), o.again != ""
	if o.sittings != "" {
		all, err := readServices(o.dir)
		if err != nil {
			return false, err
		}
		for _, s := range all {
			r.Left += boolToInt(findCase(r.Cases, s.Name, 1) < 0)
		}
	}
	blind, err := os.ReadFile(filepath.Join(o.dir, "blind.md"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	r.Blind = string(blind)
	own, err := os.ReadFile(filepath.Join(o.dir, "page.txt"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	r.Lead = string(own)
	write := r.writeMarkdown
	if o.format == "json" {
		write = r.writeJSON
	}
	if err := write(os.Stdout); err != nil {
		return false, err
	}
	if o.out != "" {
		f, err := os.Create(o.out)
		if err != nil {
			return false, err
		}
		if err := errors.Join(write(f), f.Close()); err != nil {
			return false, err
		}
	}
	return r.Pass, nil
}

// runAll runs services and labs, each -runs times, without those that earlier sittings have.
func runAll(ctx context.Context, o options, earlier []Case) (cases []Case, err error) {
	if o.keep == "" {
		if o.keep, err = os.MkdirTemp("", "unstall-accuracy-"); err != nil {
			return nil, err
		}
		defer os.RemoveAll(o.keep)
	} else if err := os.MkdirAll(o.keep, 0o755); err != nil {
		return nil, err
	}
	if o.keep, err = filepath.Abs(o.keep); err != nil {
		return nil, err
	}
	services, err := chosenServices(o, earlier)
	if err != nil {
		return nil, err
	}
	for _, s := range services {
		if err := s.buildPrograms(ctx, o); err != nil { // the run of the service reports it as its result
			logLine("%s: %v", s.Name, err)
		}
	}
	for n := range o.runs {
		for _, s := range services {
			c := runAndJudge(ctx, o, s, n+1)
			if ctx.Err() != nil {
				return nil, errors.New("interrupted: what was started has ended")
			}
			logLine("%s", c)
			if o.sittings != "" {
				if err := addToSittings(o.sittings, c); err != nil {
					return nil, err
				}
			}
			cases = append(cases, c)
		}
		if !o.noLabs {
			of, err := runLabs(ctx, o, n+1)
			if err != nil {
				return nil, err
			}
			cases = append(cases, of...)
		}
	}
	if len(cases)+len(earlier) == 0 {
		return nil, fmt.Errorf("-only %s: no service has such a name", o.only)
	}
	return cases, nil
}

func logLine(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%s "+format+"\n", append([]any{time.Now().Format("15:04:05")}, args...)...)
}
