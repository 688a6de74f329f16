// Package calibrate runs short loads of a known kind of work. It compares what the kernel counts of them with
// what it counts of a service. It does what `stress` is used for, with the figures of this machine.
//
// Its opinion: a measurement must not disturb other programs. A load has one or two threads, at most [memory]
// of memory and of a file, a directory of its own, and runs for some seconds. It calls fsync for its own file
// and never sync for the whole system. It ends by itself, or when the process that started it ends.
package calibrate

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/workload"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
)

// LoadCommand is the first argument of a process that is a load. A program that has it passes its arguments to
// [Play] before it does anything else.
const LoadCommand = "calibrate-load"

// memory bounds the memory and the disk space that a load takes, each in bytes.
const memory = 32 << 20

// Load is work of a known kind.
type Load struct {
	Name  string
	About string
	Class workload.Class
	Extra bool // not compared with a service by default
	play  func(dir string, over func() bool) error
}

// Loads in the order they run and are shown.
var Loads = []Load{
	{Name: "sqrt", About: "square roots", Class: workload.User, play: squareRoots(1)},
	{Name: "fsync", About: "writes 4 KiB to a file and waits for the disk (fsync)", Class: workload.Sync, play: fsyncs},
	{Name: "write", About: "writes a file and removes it", Class: workload.Sync, play: writes},
	{Name: "malloc", About: "allocates memory, touches each page, frees it", Class: workload.PageFault, play: touches},
	{Name: "packets", About: "64 bytes back and forth over TCP on loopback", Class: workload.Network, play: packets},
	{Name: "futex", About: "two threads wake each other by a futex", Class: workload.Futex, play: futexes},
	{Name: "pipe", About: "two threads wake each other by pipes", Class: workload.Switch, play: pipes},
	{Name: "threads", About: "square roots by four threads for each CPU", Class: workload.Saturation, Extra: true, play: squareRoots(0)},
}

// Standard returns the loads that a service is compared with by default.
func Standard() (all []Load) {
	for _, l := range Loads {
		if !l.Extra {
			all = append(all, l)
		}
	}
	return all
}

// processName returns the name that a load's process gives itself, by which a capture recognizes
// it.
func processName(load string) string { return "unstall-" + load }

// Play runs one load, with the arguments behind [LoadCommand]: its name, its own directory and how
// long it runs. It ends early when its standard input does.
func Play(args []string) error {
	if len(args) != 3 {
		return fmt.Errorf("%s: is started by unstall calibrate", LoadCommand)
	}
	d, err := time.ParseDuration(args[2])
	l := findLoad(args[0])
	if l == nil || err != nil || d <= 0 || d > time.Minute {
		return fmt.Errorf("%s: is started by unstall calibrate", LoadCommand)
	}
	_ = os.WriteFile("/proc/self/comm", []byte(processName(l.Name)), 0)
	return l.play(args[1], watchEnd(d, os.Stdin))
}

func findLoad(name string) *Load {
	for i := range Loads {
		if Loads[i].Name == name {
			return &Loads[i]
		}
	}
	return nil
}

// Run runs loads one after the other, each for the same time, and calls tell before each begins.
// When it returns, also with an error, the loads have ended and their files are removed.
func Run(ctx context.Context, loads []Load, each time.Duration, tell func(Load)) error {
	dir, err := makeTempDir()
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, l := range loads {
		if ctx.Err() != nil {
			return nil
		}
		tell(l)
		if err := l.runProcess(ctx, dir, each); err != nil && ctx.Err() == nil {
			return fmt.Errorf("the load %s: %w", l.Name, err)
		}
	}
	return nil
}

// runProcess runs the load in a process of its own, in a directory, until the load has ended or
// the context has.
func (l Load) runProcess(ctx context.Context, dir string, d time.Duration) error {
	c := exec.CommandContext(ctx, "/proc/self/exe", LoadCommand, l.Name, dir, d.String())
	c.Args[0] = os.Args[0]
	in, err := c.StdinPipe() // closes when this process ends, however it ends
	if err != nil {
		return err
	}
	defer in.Close()
	c.Cancel = func() error { return in.Close() }
	c.WaitDelay = 2 * time.Second
	text := &short{}
	c.Stderr = text
	if err := c.Run(); err != nil {
		return fmt.Errorf("%w %s", err, text.b)
	}
	return nil
}

// short keeps only the beginning of what is written to it.
type short struct{ b []byte }

func (s *short) Write(p []byte) (int, error) {
	s.b = append(s.b, p[:min(len(p), 200-min(200, len(s.b)))]...)
	return len(p), nil
}

var _ io.Writer = (*short)(nil)

// makeTempDir makes a directory for the files of loads. It uses /var/tmp where the temporary directory is in
// memory, because nothing is written back there.
func makeTempDir() (string, error) {
	parent := os.TempDir()
	if inMemory(parent) && !inMemory("/var/tmp") {
		parent = "/var/tmp"
	}
	return os.MkdirTemp(parent, "unstall-calibrate-")
}

// Schema is the version of the JSON form of a [Result]. Keys are added, never renamed.
const Schema = "unstall.calibrate/v1"

// Result is a service beside loads of a known kind.
type Result struct {
	Schema      string  `json:"schema"`
	ToolVersion string  `json:"tool_version"`
	CPUs        int     `json:"cpus"`
	Target      *Row    `json:"target"`  // null: none was given
	Nearest     *string `json:"nearest"` // the load that is most like it, null unknown
	Loads       []Row   `json:"loads"`
	NotSeen     []Lack  `json:"not_seen"`
	Capture     string  `json:"capture"`
}

// Lack is what could not be seen.
type Lack struct {
	What string `json:"what"`
	Why  string `json:"why"`
	Do   string `json:"do"`
}

// Row is what was counted of one; rates are per second of its CPU time, null is not known.
type Row struct {
	Name     string         `json:"name"`
	PID      int            `json:"pid"`
	About    string         `json:"about"`
	Known    workload.Class `json:"known_class"` // "" of a service
	Class    workload.Class `json:"class"`
	Share    *float64       `json:"class_share"`
	By       string         `json:"class_by"` // "samples", "counts", ""
	Distance *float64       `json:"distance"` // to the target: the part of the CPU time that goes to something else

	CPU         *float64 `json:"cpu"`
	System      *float64 `json:"system"`
	MinorFaults *float64 `json:"minor_faults"`
	Voluntary   *float64 `json:"voluntary_switches"`
	Involuntary *float64 `json:"involuntary_switches"`
	Segments    *float64 `json:"tcp_segments"`
	Dirtied     *float64 `json:"dirtied_pages"`
	Read        *float64 `json:"read_pages"`
	Host        Host     `json:"host"`

	vector workload.Vector
}

// Host is what was counted of the whole host meanwhile: it decides nothing.
type Host struct {
	Softirq     *float64 `json:"softirq_share"`
	NetRX       *float64 `json:"net_rx_s"`
	Block       *float64 `json:"block_s"`
	PressureCPU *float64 `json:"pressure_cpu"`
	PressureIO  *float64 `json:"pressure_io"`
}

// warm is how much of a load's beginning is not counted, because its program is starting.
const warm = 300 * time.Millisecond

// Of returns the loads that a recording holds and, where service has processes, that service
// beside them.
func Of(b *evidence.Bundle, title string, pid int, service []evidence.SubjectID) *Result {
	r := &Result{Schema: Schema}
	m := metrics.MachineOf(b)
	if m == nil {
		return r
	}
	r.CPUs = m.CPUs
	if len(service) > 0 {
		row := rowOf(b, service, m, m.Window)
		row.Name, row.PID = title, pid
		r.Target = &row
	}
	for _, l := range Loads {
		for id := range b.Subjects {
			if s := &b.Subjects[id]; s.Kind != evidence.Process || s.Name != processName(l.Name) {
				continue
			}
			w := metrics.WatchedTime(b, evidence.SubjectID(id))
			w.From += int64(warm)
			if w.Until <= w.From {
				continue
			}
			row := rowOf(b, []evidence.SubjectID{evidence.SubjectID(id)}, m, w)
			row.Name, row.PID, row.About, row.Known = l.Name, b.Subjects[id].PID, l.About, l.Class
			if r.Target != nil {
				row.Distance = stats.FiniteOrNil(workload.Distance(&r.Target.vector, &row.vector))
			}
			r.Loads = append(r.Loads, row)
		}
	}
	for _, l := range b.Unseen {
		r.NotSeen = append(r.NotSeen, Lack(l))
	}
	for i := range r.Loads {
		if d := r.Loads[i].Distance; d != nil && (r.Nearest == nil || *d < *r.nearestRow().Distance) {
			r.Nearest = &r.Loads[i].Name
		}
	}
	return r
}

// nearestRow returns the row of the load that is most like the target, nil if there is none.
func (r *Result) nearestRow() *Row {
	for i := range r.Loads {
		if r.Nearest != nil && r.Loads[i].Name == *r.Nearest {
			return &r.Loads[i]
		}
	}
	return nil
}

func rowOf(b *evidence.Bundle, processes []evidence.SubjectID, m *metrics.Machine, w metrics.Window) Row {
	v := workload.Of(metrics.WorkOf(b, processes, w), m.Over(b, w))
	c := v.Classify()
	row := Row{Class: c.Class, Share: stats.FiniteOrNil(c.Share), CPU: stats.FiniteOrNil(v.CPU), System: stats.FiniteOrNil(v.System), MinorFaults: stats.FiniteOrNil(v.MinorFaults), Voluntary: stats.FiniteOrNil(v.Voluntary), Involuntary: stats.FiniteOrNil(v.Involuntary),
		Segments: stats.FiniteOrNil(v.Segments), Dirtied: stats.FiniteOrNil(v.Dirtied), Read: stats.FiniteOrNil(v.Read), vector: v,
		Host: Host{stats.FiniteOrNil(v.Host.Softirq), stats.FiniteOrNil(v.Host.NetRX), stats.FiniteOrNil(v.Host.Block), stats.FiniteOrNil(v.Host.PressureCPU), stats.FiniteOrNil(v.Host.PressureIO)}}
	if c.Shares.Known {
		row.By = "counts"
		if c.Shares.Sampled {
			row.By = "samples"
		}
	}
	return row
}

// loadFilePath returns the path of a load's file, named after the load and this process.
func loadFilePath(dir, load string) string {
	return filepath.Join(dir, load+"-"+strconv.Itoa(os.Getpid()))
}
