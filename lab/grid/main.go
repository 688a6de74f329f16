// Grid measures what Go's heap settings do to one service, so that predictions can
// be held against it: the gateway of the go-ballast incident under one open-loop
// load, with GOGC, a ballast or a memory limit of many sizes.
//
//	go run ./lab/grid measure -dir out/grid     a file for each run; runs that are there are not repeated
//	go run ./lab/grid table -dir out/grid       predictions from the calibration run beside what was measured
//
// Its opinion: everything is predicted from one run of one setting, the default, and
// nothing that was measured at another setting may move a prediction. All services
// are resident at the same time and warmed up until their memory is on a plateau;
// each repetition runs all of them once, in random order; a run in which others used
// the host is made again. What missed is in the table like what did not.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// options are what can be chosen.
type options struct {
	dir     string
	rates   []float64
	reps    int
	lasts   time.Duration
	lead    time.Duration
	seed    uint64
	step    bool
	stretch time.Duration
	out     string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "grid:", err)
		stop()
		os.Exit(1)
	}
}

var errUsage = errors.New("give measure or table, then flags: go run ./lab/grid measure -h")

func command(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errUsage
	}
	var o options
	rates := "1000,500"
	f := flag.NewFlagSet(args[0], flag.ContinueOnError)
	f.StringVar(&o.dir, "dir", filepath.Join("out", "grid"), "folder of the runs")
	switch args[0] {
	case "measure":
		f.StringVar(&rates, "rates", rates, "loads, requests/s")
		f.IntVar(&o.reps, "repetitions", 3, "of the whole grid at each load")
		f.DurationVar(&o.lasts, "for", 8*time.Second, "length of a run")
		f.DurationVar(&o.lead, "lead", 2*time.Second, "load before each run that does not count")
		f.Uint64Var(&o.seed, "seed", 0, "of the order and the arrivals; 0: drawn")
		f.BoolVar(&o.step, "step", false, "wait for a line on standard input before each stretch of runs, on a host that is shared by turns")
		f.DurationVar(&o.stretch, "stretch", 100*time.Second, "with -step: at most that long")
	case "table":
		f.StringVar(&o.out, "o", "", "file for the table; empty: standard output")
	default:
		return errUsage
	}
	if err := f.Parse(args[1:]); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	for _, s := range strings.Split(rates, ",") {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil || v <= 0 {
			return fmt.Errorf("-rates %s: %q is no rate", rates, s)
		}
		o.rates = append(o.rates, v)
	}
	if args[0] == "table" {
		return table(ctx, o)
	}
	return measure(ctx, o)
}

// measurer makes the runs that are not there yet.
type measurer struct {
	options
	plan     Plan
	services []*running
	turns    *bufio.Scanner
	until    time.Time // the end of this stretch
}

// spoilt is the share of the host's processors from which a run with others on the
// host is made again, at most again times.
const (
	spoilt = .1
	again  = 3
)

func say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%s "+format+"\n", append([]any{time.Now().Format("15:04:05")}, args...)...)
}

func measure(ctx context.Context, o options) (err error) {
	if runtime.NumCPU() < processors {
		return fmt.Errorf("the services run on %d processors, this host has %d", processors, runtime.NumCPU())
	}
	m := &measurer{options: o, turns: bufio.NewScanner(os.Stdin)}
	if err := os.MkdirAll(o.dir, 0o755); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "grid-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	bin, err := build(ctx, work)
	if err != nil {
		return err
	}
	defer func() {
		for _, s := range m.services {
			if e := s.Stop(); err == nil && ctx.Err() == nil {
				err = e
			}
		}
	}()
	m.turn(true)
	if err := m.findPlan(ctx, bin, work); err != nil {
		return err
	}
	if err := m.startAll(ctx, bin, work); err != nil {
		return err
	}
	for _, rate := range m.rates {
		for rep := 1; rep <= m.reps; rep++ {
			if err := m.repetition(ctx, rate, rep); err != nil {
				return err
			}
			if rep > 1 {
				continue
			}
			if err := m.capture(ctx, rate, work); err != nil {
				return err
			}
		}
	}
	return nil
}

// turn waits for the next stretch where the last one is used up.
func (m *measurer) turn(first bool) {
	if !m.step || !first && time.Now().Before(m.until) {
		return
	}
	if !first {
		fmt.Println("pause")
	}
	m.turns.Scan()
	m.until = time.Now().Add(m.stretch)
}

const mostWarm = 20 * time.Second

// findPlan takes the settings of earlier runs, or runs the calibration to see how
// large its live heap is.
func (m *measurer) findPlan(ctx context.Context, bin, work string) error {
	file := filepath.Join(m.dir, planFile)
	if err := readJSON(file, &m.plan); err == nil || !errors.Is(err, os.ErrNotExist) {
		return err
	}
	one, err := start(ctx, bin, work, settings(1, 1)[0])
	if err != nil {
		return err
	}
	defer one.Stop()
	if err := one.warm(ctx, m.rates[0], mostWarm); err != nil {
		return err
	}
	row, err := run(ctx, one, demand{rate: m.rates[0], lead: m.lead, lasts: m.lasts, seed: 1}, filepath.Join(work, "first"))
	if err != nil {
		return err
	}
	if row.Live == 0 {
		return fmt.Errorf("%s did not collect twice in %v at %g requests/s: give it more load", one.Name, m.lasts, m.rates[0])
	}
	if m.seed == 0 {
		m.seed = rand.Uint64() >> 11
	}
	name, _ := os.ReadFile("/proc/version")
	m.plan = Plan{Live: row.Live, NonHeap: row.NonHeap, Settings: settings(row.Live, row.NonHeap), Seed: m.seed,
		Go: row.Go, Start: time.Now().UTC(), Processors: row.Processors, Host: hostOf(string(name))}
	say("live heap %.0f MiB, beside it %.0f MiB; %.1f cycles/s, the collector takes %.2f cores", row.Live/(1<<20), row.NonHeap/(1<<20), row.Cycles, row.Profile)
	return writeJSON(file, m.plan)
}

// hostOf is what the table says of the machine.
func hostOf(version string) string {
	if f := strings.Fields(version); len(f) > 2 {
		return fmt.Sprintf("Linux %s, %d processors, %s", f[2], runtime.NumCPU(), runtime.GOARCH)
	}
	return fmt.Sprintf("%s, %d processors, %s", runtime.GOOS, runtime.NumCPU(), runtime.GOARCH)
}

func (m *measurer) startAll(ctx context.Context, bin, work string) error {
	for _, s := range m.plan.Settings {
		m.turn(false)
		one, err := start(ctx, bin, work, s)
		if err != nil {
			return err
		}
		m.services = append(m.services, one)
		if err := one.warm(ctx, m.rates[0], mostWarm); err != nil {
			return fmt.Errorf("warming up: %w", err)
		}
		say("%s is warm", s.Name)
	}
	return nil
}

// repetition runs every setting once. All get the same arrivals.
func (m *measurer) repetition(ctx context.Context, rate float64, rep int) error {
	seed := m.plan.Seed + uint64(rep) + uint64(1000*rate)
	order := rand.New(rand.NewPCG(seed, 0)).Perm(len(m.services))
	for _, i := range order {
		file := rowFile(m.dir, rate, rep, i)
		if _, err := os.Stat(file); err == nil {
			continue
		}
		for tries := 0; ; tries++ {
			m.turn(false)
			row, err := run(ctx, m.services[i], demand{rate: rate, lead: m.lead, lasts: m.lasts, seed: seed}, strings.TrimSuffix(file, ".json"))
			if err != nil {
				return fmt.Errorf("%s: %w", m.services[i].Name, err)
			}
			row.Repetition, row.Again = rep, tries
			say("%4.0f/s, %d: %-20s %5.2f cycles/s  collector %.2f cores  p50 %5.2f p99 %7.2f ms  others %2.0f %%", rate, rep, row.Setting.Name, row.Cycles, row.Profile, row.P50, row.P99, 100*row.Others)
			if row.Others < spoilt || tries == again {
				if err := writeJSON(file, row); err != nil {
					return err
				}
				break
			}
			say("others used the host: once more")
		}
	}
	return nil
}
