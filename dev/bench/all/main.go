//go:build linux

// All runs every benchmark and prints one table: what was measured, against which peer or limit, the figure, the goal, and whether
// it is met. `make bench` runs it. Each benchmark runs shorter than by itself, so that all of them take a quarter of an hour; what
// is not measured in that time says so.
//
//	go run ./dev/bench/all                                      everything
//	go run ./dev/bench/all -only reading,kernel                 some of it
//	go run ./dev/bench/all -page PAGE                           the table between <!-- measured: all --> and <!-- end --> of a page, too
//
// Its opinion: one run on one machine finds a regression of tens of percent. For a figure to be quoted, run its benchmark by itself.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/unstall/unstall/dev/bench/table"
)

// benchmark is a program, with the flags that make it short.
type benchmark struct {
	name    string
	args    []string // of go
	metrics []metric // of go test -bench; other benchmarks add their rows themselves
}

// metric is a figure of go test -bench with a goal.
type metric struct {
	benchmark, unit  string
	work, peer, goal string
	least, most      float64 // 0: none
}

var benchmarks = []benchmark{
	{name: "reading", args: []string{"run", "-pgo=dev/bench/reading.pgo", "./dev/bench", "-rounds", "3", "-large", "50"}},
	{name: "kernel", args: []string{"run", "./dev/bench/kernel", "-pairs", "6", "-for", "1s"}},
	{name: "recording", args: []string{"run", "./dev/bench/recording", "-for", "20s", "-pairs", "6"}},
	{name: "redis", args: []string{"run", "./dev/bench/redis", "-pairs", "6"}},
	{name: "dotnet", args: []string{"run", "./dev/bench/dotnet", "-on", "9", "-pairs", "3"}},
	{name: "gcsession", args: []string{"run", "./dev/bench/gcsession", "-on", "9", "-pairs", "6", "-for", "2s"}},
	{name: "fleet", args: []string{"run", "./dev/bench/fleet", "-hosts", "2000", "-times", "3"}},
	{name: "load", args: []string{"test", "./internal/collect/load", "-run", "^$", "-bench", "AgainstSchedule", "-benchtime", "1x"}, metrics: []metric{
		{benchmark: "BenchmarkAgainstSchedule", unit: "lag-p99-ms", work: "Making load: send lag p99 at 10,000/s, ms", peer: table.Limit, goal: "≤ 0.1", most: .1},
	}},
	{name: "pages", args: []string{"run", "./dev/bench/pages", "-rounds", "3", "docs/gallery/go-ballast-sick.html"}},
	{name: "page", args: []string{"test", "./internal/present/html", "-run", "^$", "-bench", "BrowserOpen/1M", "-benchtime", "1x"}, metrics: []metric{
		{benchmark: "BenchmarkBrowserOpen/1M-requests-100k-intervals", unit: "ms/open", work: "Page of 1M requests and 100k intervals: opening, ms", peer: table.Limit, goal: "≤ 3000", most: 3000},
	}},
}

func main() {
	only := flag.String("only", "", "names of benchmarks, separated by commas; empty: all")
	within := flag.Duration("within", 15*time.Minute, "how long all of them may take")
	page := flag.String("page", "", "document to put the table into")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := runAll(ctx, strings.FieldsFunc(*only, func(r rune) bool { return r == ',' }), *within, *page); err != nil {
		fmt.Fprintln(os.Stderr, "dev/bench/all:", err)
		os.Exit(1)
	}
}

func runAll(ctx context.Context, only []string, within time.Duration, page string) error {
	for _, name := range only {
		if !slices.ContainsFunc(benchmarks, func(b benchmark) bool { return b.name == name }) {
			return fmt.Errorf("there is no benchmark %q", name)
		}
	}
	dir, err := os.MkdirTemp("", "unstall-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	began := time.Now()
	deadline, cancel := context.WithDeadline(ctx, began.Add(within))
	defer cancel()
	var rows []table.Row
	for _, b := range benchmarks {
		if len(only) > 0 && !slices.Contains(only, b.name) {
			continue
		}
		fmt.Printf("\n== %s: go %s\n", b.name, strings.Join(b.args, " "))
		from := time.Now()
		measured, err := b.run(deadline, filepath.Join(dir, b.name))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		rows = append(rows, measured...)
		if err != nil {
			rows = append(rows, table.Row{Work: b.name, Why: explainFailure(deadline, err, within)})
		}
		fmt.Printf("== %s took %.0f s\n", b.name, time.Since(from).Seconds())
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s, %d processors, measured in %.0f s\n\n", runtime.Version(), runtime.NumCPU(), time.Since(began).Seconds())
	table.Print(&text, rows)
	fmt.Printf("\n%s", text.String())
	if page == "" {
		return nil
	}
	document, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	now, ok := table.ReplacePart(string(document), "all", text.String())
	if !ok {
		return fmt.Errorf("%s has no part between <!-- measured: all --> and <!-- end -->", page)
	}
	return os.WriteFile(page, []byte(now), 0o644)
}

func explainFailure(ctx context.Context, err error, within time.Duration) string {
	if ctx.Err() != nil {
		return fmt.Sprintf("the %v for all benchmarks are over", within)
	}
	return err.Error()
}

// run runs a benchmark and returns its rows. With an error it returns those that were measured before.
func (b benchmark) run(ctx context.Context, name string) ([]table.Row, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "go", b.args...)
	cmd.Env = append(os.Environ(), table.Variable+"="+name)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // go run starts the program as a child of its own
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = 10 * time.Second
	var said tail
	cmd.Stderr = io.MultiWriter(os.Stderr, &said)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	var rows []table.Row
	for lines := bufio.NewScanner(out); lines.Scan(); {
		fmt.Println(lines.Text())
		rows = append(rows, b.rowsOf(lines.Text())...)
	}
	err = cmd.Wait()
	if ctx.Err() != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what did not end by itself
	}
	written, readErr := table.Read(name)
	if err != nil && said.last != "" {
		err = errors.New(said.last)
	}
	return append(rows, written...), errors.Join(err, readErr)
}

// rowsOf returns the rows of a line of go test -bench: its name, the number of runs, and figures with their units.
func (b benchmark) rowsOf(line string) (rows []table.Row) {
	f := strings.Fields(line)
	if len(f) < 4 {
		return nil
	}
	name := f[0]
	if at := strings.LastIndexByte(name, '-'); at > 0 {
		if _, err := strconv.Atoi(name[at+1:]); err == nil { // GOMAXPROCS
			name = name[:at]
		}
	}
	for i := 2; i+1 < len(f); i += 2 {
		for _, m := range b.metrics {
			v, err := strconv.ParseFloat(f[i], 64)
			if m.benchmark != name || m.unit != f[i+1] || err != nil {
				continue
			}
			rows = append(rows, table.Row{Work: m.work, Peer: m.peer, Got: f[i], Goal: m.goal, Met: (m.least == 0 || v >= m.least) && (m.most == 0 || v <= m.most)})
		}
	}
	return rows
}

// tail keeps the last line that was written to it.
type tail struct{ last string }

func (t *tail) Write(p []byte) (int, error) {
	for line := range strings.Lines(string(p)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "exit status") {
			t.last = line
		}
	}
	return len(p), nil
}
