// Grid measures what Go's heap settings do to one service, to compare predictions with the
// measurements: the gateway of the go-ballast incident under open-loop loads,
// with GOGC, a ballast or a memory limit of many sizes.
//
//	go run ./dev/grid measure -dir out/grid     a file for each run; runs that are there are not repeated
//	go run ./dev/grid table -dir out/grid       predictions from a recording beside what was measured
//
// Its opinion: everything is predicted from one recording of one setting, the default,
// and no measurement of another setting may change a prediction. All services
// are resident at the same time and warmed up until their memory is on a plateau;
// each repetition runs all of them once at each load, in random order, so that a slow
// minute of the host meets different settings. A run is rejected because other programs used
// the host, and never because of its own figures. The table also shows what missed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
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

// options are the user's choices.
type options struct {
	dir    string
	rates  []float64
	reps   int
	lasts  time.Duration
	most   time.Duration
	lead   time.Duration
	within time.Duration
	only   []string
	seed   uint64
	out    string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := runCommand(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "grid:", err)
		stop()
		os.Exit(1)
	}
}

var errUsage = errors.New("give measure or table, then flags: go run ./dev/grid measure -h")

func runCommand(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errUsage
	}
	var o options
	rates, only := "1150,575", ""
	f := flag.NewFlagSet(args[0], flag.ContinueOnError)
	f.StringVar(&o.dir, "dir", filepath.Join("out", "grid"), "folder of the runs")
	switch args[0] {
	case "measure":
		f.StringVar(&rates, "rates", rates, "loads, requests/s")
		f.IntVar(&o.reps, "repetitions", 3, "of the whole grid at each load")
		f.DurationVar(&o.lasts, "for", 5*time.Second, "least length of a run")
		f.DurationVar(&o.most, "most", 12*time.Second, "greatest length of a run: where cycles come rarely it lasts as long as four")
		f.DurationVar(&o.lead, "lead", 1500*time.Millisecond, "load before each run that does not count")
		f.DurationVar(&o.within, "within", 15*time.Minute, "until then runs in which others used the host are made again")
		f.StringVar(&only, "only", "", "names of settings, with commas between; empty: all. The calibration is among them anyway")
		f.Uint64Var(&o.seed, "seed", 0, "of the order and the arrivals; 0: drawn")
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
	if only != "" {
		o.only = strings.Split(only, ",")
	}
	if args[0] == "table" {
		return writeTable(ctx, o)
	}
	return measureGrid(ctx, o)
}

func logLine(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%s "+format+"\n", append([]any{time.Now().Format("15:04:05")}, args...)...)
}

func measureGrid(ctx context.Context, o options) (err error) {
	if runtime.NumCPU() < processors {
		return fmt.Errorf("the services run on %d processors, this host has %d", processors, runtime.NumCPU())
	}
	m := &measurer{options: o, began: time.Now()}
	if err := os.MkdirAll(o.dir, 0o755); err != nil {
		return err
	}
	if err := readJSON(filepath.Join(o.dir, planFile), &m.plan); err == nil {
		todo, all := m.missingJobs()
		if len(todo) == 0 {
			logLine("all %d runs are in %s, of %s: remove it to measure anew", all, o.dir, m.plan.Start.Format(time.DateTime))
			return nil
		}
		logLine("%d of %d runs are in %s, of %s: going on with the others", all-len(todo), all, o.dir, m.plan.Start.Format(time.DateTime))
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if m.work, err = os.MkdirTemp("", "grid-"); err != nil {
		return err
	}
	defer os.RemoveAll(m.work)
	bin, err := buildGateway(ctx, m.work)
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
	if m.plan.Settings == nil {
		if err := m.findPlan(ctx, bin); err != nil {
			return err
		}
	}
	if err := m.startAll(ctx, bin); err != nil {
		return err
	}
	if err := m.runMissing(ctx); err != nil {
		return err
	}
	return m.repeatSpoilt(ctx)
}

const mostWarm = 20 * time.Second

// findPlan runs the calibration to measure its live heap.
func (m *measurer) findPlan(ctx context.Context, bin string) error {
	one, err := startGateway(ctx, bin, m.work, gridSettings(1, 1)[0])
	if err != nil {
		return err
	}
	defer one.Stop()
	if err := one.warmUp(ctx, m.rates[0], mostWarm); err != nil {
		return err
	}
	row, err := measureSetting(ctx, one, demand{rate: m.rates[0], lead: m.lead, lasts: m.lasts, seed: 1}, filepath.Join(m.work, "first"))
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
	chosen, err := chooseSettings(gridSettings(row.Live, row.NonHeap), m.only)
	if err != nil {
		return err
	}
	m.plan = Plan{Live: row.Live, NonHeap: row.NonHeap, Alloc: row.Alloc / row.Achieved, Settings: chosen, Seed: m.seed,
		Go: row.Go, Start: time.Now().UTC(), Processors: row.Processors, Host: hostOf(string(name))}
	logLine("live heap %.0f MiB, beside it %.0f MiB; %.1f cycles/s, the collector takes %.2f cores", row.Live/(1<<20), row.NonHeap/(1<<20), row.Cycles, row.Profile)
	return writeJSON(filepath.Join(m.dir, planFile), m.plan)
}

// hostOf describes the machine for the table.
func hostOf(version string) string {
	if f := strings.Fields(version); len(f) > 2 {
		return fmt.Sprintf("Linux %s, %d processors, %s", f[2], runtime.NumCPU(), runtime.GOARCH)
	}
	return fmt.Sprintf("%s, %d processors, %s", runtime.GOOS, runtime.NumCPU(), runtime.GOARCH)
}

func (m *measurer) startAll(ctx context.Context, bin string) error {
	for n, s := range m.plan.Settings {
		one, err := startGateway(ctx, bin, m.work, s)
		if err != nil {
			return err
		}
		m.services = append(m.services, one)
		if err := one.warmUp(ctx, m.rates[0], mostWarm); err != nil {
			return fmt.Errorf("warming up: %w", err)
		}
		logLine("%d of %d services are warm: %s", n+1, len(m.plan.Settings), s.Name)
	}
	return nil
}
