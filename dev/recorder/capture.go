package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	runtimes "github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/load"
	"github.com/unstall/unstall/internal/collect/probe"
	probes "github.com/unstall/unstall/internal/collect/probe/all"
	"github.com/unstall/unstall/internal/collect/probe/hugepages"
	probelinux "github.com/unstall/unstall/internal/collect/probe/linux"
	"github.com/unstall/unstall/internal/collect/record"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/operate/experiment"
	"github.com/unstall/unstall/lab"
	"github.com/unstall/unstall/lab/build"
	"github.com/unstall/unstall/lab/dotnet-starvation/app"
	"github.com/unstall/unstall/lab/loadgen"
	"github.com/unstall/unstall/lab/process"
	"github.com/unstall/unstall/lab/service"
)

// lastLook is how long the load goes on until the probes have finished.
const lastLook = 3 * time.Second

// dotnetService is the program of recordings in .NET.
const dotnetService = "dotnet-starvation/app"

// recordCapture records a service that reports nothing about itself, as unstall PID --load URL
// does, and leaves the artifacts as files in the temporary folder.
func recordCapture(ctx context.Context, b *builder, r recording, tmp string, say func(string)) (t *truth, err error) {
	t = &truth{ID: r.id, About: r.about, Recorded: time.Now().UTC().Format(time.RFC3339), Recipe: "go run ./dev/recorder one " + r.id, Cores: runtime.NumCPU(), Env: r.env}
	lent, err := experiment.Host(ctx, r.host, time.Now().Add(limit))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lent.End(context.WithoutCancel(ctx))) }()
	var others []*process.Process
	if len(r.beside) > 0 {
		other, err := startBeside(ctx, b, r, t, tmp, say)
		if err != nil {
			return nil, err
		}
		others = append(others, other)
		defer other.Stop()
	}
	start := startDotnet
	if r.program != dotnetService {
		start = b.startService
	}
	recorded, address, err := start(ctx, r, t, tmp)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, recorded.Stop()) }()
	found, err := discover.Resolve(ctx, strconv.Itoa(recorded.PID), runtimes.Recognisers())
	if err != nil {
		return nil, err
	}
	say("recording")
	plan := load.Plan{URL: "http://" + address + r.load.Paths[0], Header: http.Header{}, Mode: load.Closed, Connections: r.load.Connections, Duration: r.capture + lastLook, Timeout: r.capture + lastLook}
	path := filepath.Join(tmp, "capture.unstall")
	from := markOf(recorded, others...)
	asked := probes.Probes
	if r.kernel { // its runtime is not recorded
		asked = slices.Concat([]probe.Probe{probelinux.Probe, hugepages.Probe}, probes.Kernel)
	}
	_, err = record.Find(ctx, asked, []discover.Target{found}).Record(ctx, record.Options{For: r.warm + r.capture, Path: path, Tool: "dev/recorder", Command: []string{"unstall", "record"},
		Beside: func(ctx context.Context, sink probe.Sink) error {
			first := plan
			first.Connections, first.Duration = 1, r.warm
			if _, err := load.Run(ctx, first, nil); err != nil {
				return err
			}
			return record.RunLoad(plan, found.Subject(), nil, func(result *load.Result) { t.Load = loadResult(r.load, result) })(ctx, sink)
		}})
	if err != nil {
		return nil, err
	}
	t.All = from.windowUntil(markOf(recorded, others...))
	if t.Load == nil {
		return nil, errors.New("nothing is known of the load")
	}
	if r.joined {
		return t, os.Rename(path, filepath.Join(tmp, unpacked+filepath.Base(path)))
	}
	return t, unpackCapture(path, tmp)
}

// startBeside starts the program beside the service, and waits until it is ready.
func startBeside(ctx context.Context, b *builder, r recording, t *truth, tmp string, say func(string)) (*process.Process, error) {
	bin, err := b.buildProgram(ctx, r.beside[0], "")
	if err != nil {
		return nil, err
	}
	var said struct{ Ready string }
	p, err := process.Start(ctx, bin, r.beside[1:], nil, filepath.Join(tmp, "beside.stderr"), &said)
	if err == nil {
		t.Others = append(t.Others, strings.Join(r.beside, " "))
		say(said.Ready)
	}
	return p, err
}

// startService starts a program of lab/service, which is recorded like any other.
func (b *builder) startService(ctx context.Context, r recording, t *truth, tmp string) (*process.Process, string, error) {
	bin, err := b.buildProgram(ctx, r.program, r.toolchain)
	if err != nil {
		return nil, "", err
	}
	var said service.Announcement
	p, err := process.Start(ctx, bin, append([]string{"-control"}, r.args...), r.env, filepath.Join(tmp, "stderr"), &said)
	if err != nil {
		return nil, "", err
	}
	t.Command, t.Toolchain, t.Procs, t.PID = strings.Join(append([]string{r.program}, r.args...), " "), said.Go, said.Procs, p.PID
	return p, said.Serving, nil
}

func startDotnet(ctx context.Context, r recording, t *truth, tmp string) (*process.Process, string, error) {
	told := func(text string) { fmt.Fprintln(os.Stderr, text) }
	dotnet, err := build.FindDotnet(ctx, true, told)
	if err != nil {
		return nil, "", err
	}
	assembly, err := build.Dotnet(ctx, dotnet, "dotnet-starvation", build.Project{Sources: app.Sources, File: app.Project}, told)
	if err != nil {
		return nil, "", err
	}
	version, err := build.SDK(ctx, dotnet)
	if err != nil {
		return nil, "", err
	}
	if dotnet, assembly, err = copyRuntime(dotnet, assembly, tmp); err != nil {
		return nil, "", err
	}
	var said struct{ Serving string }
	p, err := process.Start(ctx, dotnet, append([]string{assembly, "--control=true"}, r.args...), r.env, filepath.Join(tmp, "stderr"), &said)
	if err != nil {
		return nil, "", err
	}
	t.Command, t.Toolchain, t.Procs, t.PID = "dotnet "+filepath.Base(assembly), ".NET SDK "+version, runtime.NumCPU(), p.PID
	return p, said.Serving, nil
}

// copyRuntime copies a runtime and the program that it runs into a folder: a recording names the
// files of both, and must not name the folders of the host where it is made.
func copyRuntime(dotnet, assembly, to string) (string, string, error) {
	dotnet, err := filepath.EvalSymlinks(dotnet)
	if err != nil {
		return "", "", err
	}
	for _, folder := range []string{"host", "shared"} {
		if err := os.CopyFS(filepath.Join(to, "dotnet", folder), os.DirFS(filepath.Join(filepath.Dir(dotnet), folder))); err != nil {
			return "", "", err
		}
	}
	if err := os.CopyFS(filepath.Join(to, "app"), os.DirFS(filepath.Dir(assembly))); err != nil {
		return "", "", err
	}
	program, err := os.ReadFile(dotnet)
	if err != nil {
		return "", "", err
	}
	copied := filepath.Join(to, "dotnet", "dotnet")
	return copied, filepath.Join(to, "app", filepath.Base(assembly)), os.WriteFile(copied, program, 0o755)
}

// outside is what can be measured of a process from outside.
type outside struct {
	at                                 time.Time
	process, beside, busy, stolen, own float64 // s of CPU
}

// markOf measures a process, and the processes that are meant to run beside it.
func markOf(p *process.Process, beside ...*process.Process) outside {
	m := outside{at: time.Now(), process: lab.CPUSeconds(p.PID), own: lab.CPUSeconds(os.Getpid())}
	for _, other := range beside {
		m.beside += lab.CPUSeconds(other.PID)
	}
	m.busy, m.stolen = lab.HostBusySeconds()
	return m
}

func (a outside) windowUntil(b outside) *window {
	s := b.at.Sub(a.at).Seconds()
	ours := b.process - a.process + b.beside - a.beside + b.own - a.own
	return &window{From: a.at.UnixNano(), Until: b.at.UnixNano(), Seconds: s, Cores: (b.process - a.process) / s, Beside: (b.beside - a.beside) / s,
		Neighbours: max(0, (b.busy-a.busy-ours)/s), Stolen: (b.stolen - a.stolen) / s}
}

// loadResult converts the result of a load to what truth.json holds of it.
func loadResult(p loadgen.Plan, r *load.Result) *loadgen.Result {
	ms := func(v *float64) float64 {
		if v == nil {
			return 0
		}
		return *v
	}
	return &loadgen.Result{Plan: p, Sent: r.Sent, Finished: r.Completed, Failed: r.Completed - r.Codes.Success, Unanswered: r.Unfinished,
		Seconds: r.Duration, Achieved: r.Rate.Mean, LagP99: ms(r.SendLag.P99), First: r.Start.UnixNano(),
		Latency: loadgen.Latency{P50: ms(r.Latency.P50), P90: ms(r.Latency.P90), P99: ms(r.Latency.P99), Max: ms(r.Latency.Max)}}
}

// zstd4 is the beginning of each zstd frame: RFC 8878.
var zstd4 = []byte{0x28, 0xb5, 0x2f, 0xfd}

// unpackCapture writes the artifacts of a capture as files, as they are stored.
func unpackCapture(path, dir string) error {
	c, err := capture.Open(path)
	if err != nil {
		return err
	}
	for _, a := range c.Artifacts() {
		b, err := readStored(a)
		if err != nil {
			return fmt.Errorf("%s: %w", a.Name, err)
		}
		name := a.Name
		if bytes.HasPrefix(b, zstd4) {
			name += ".zst"
		}
		if err := os.WriteFile(filepath.Join(dir, unpacked+name), b, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func readStored(a *format.Artifact) ([]byte, error) {
	f, err := a.Open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// unpacked is the prefix of files that come from a capture.
const unpacked = "captured-"

// capturedFiles returns the unpacked files of a recording.
func capturedFiles(tmp string) (kept []artifact) {
	files, _ := filepath.Glob(filepath.Join(tmp, unpacked+"*")) // the pattern is well-formed
	for _, f := range files {
		name := filepath.Base(f)
		kept = append(kept, artifact{name, name[len(unpacked):], false})
	}
	return kept
}
