package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/collect/load"
	"github.com/unstall/unstall/lab/build"
	"github.com/unstall/unstall/lab/loadgen"
	"github.com/unstall/unstall/lab/process"
)

// javaSources are the sources of the service that all recordings of JVMs run.
//
//go:embed java/*.java
var javaSources embed.FS

// jvm is how that service is run, and what is kept beside its GC log and its clients'
// rows.
type jvm struct {
	release int      // 11, 17 or 25
	flags   []string // without those of its log
	log     string   // argument of -Xlog; "": all of gc, and safepoints
	dumps   int      // thread dumps at most, spread over the load
	classes bool     // class histograms, at the beginning and the end of the load
	silent  bool     // no load is recorded: the GC log is the only artifact
	flight  bool     // a flight recording of the load
	alone   bool     // without any other artifact
}

// everything is the argument of -Xlog by default: what unstall advises users to
// switch on, and no more.
const everything = "gc*=info,safepoint=info"

// recordJVM makes a recording of a JVM in a temporary folder and returns its truth.
func recordJVM(ctx context.Context, b *builder, r recording, tmp string, say func(string)) (t *truth, err error) {
	t = &truth{ID: r.id, About: r.about, Recorded: time.Now().UTC().Format(time.RFC3339), Recipe: "go run ./dev/recorder one " + r.id, Cores: runtime.NumCPU(), Env: r.env}
	s := &session{recording: r, tmp: tmp, truth: t}
	defer func() {
		for _, p := range s.others {
			err = errors.Join(err, p.Stop())
		}
	}()
	home, address, err := s.startJVM(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.service.Stop()) }()
	plan := load.Plan{URL: "http://" + address + "/", Header: http.Header{}, Mode: load.Open, Rate: r.load.Rate, Connections: r.load.Connections, Timeout: r.load.Timeout}
	if r.load.Poisson && r.load.Rate > 0 {
		plan.Arrivals, plan.Seed = load.Poisson, uint64(r.load.Seed)
	}
	if r.load.Rate == 0 {
		plan.Mode = load.Closed
	}
	say("warming up")
	first := plan
	first.Duration = r.warm
	if _, err := load.Run(ctx, first, nil); err != nil {
		return nil, err
	}
	if err := s.startNeighbours(ctx, b, t); err != nil {
		return nil, err
	}
	say("recording")
	plan.Duration = r.tail
	if r.jvm.flight {
		if err := s.takeOff(ctx, home); err != nil {
			return nil, err
		}
	}
	err = s.underLoad(ctx, plan, home)
	if r.jvm.flight {
		err = errors.Join(err, s.stopFlight(home))
	}
	return t, err
}

// startJVM compiles the service and starts it in the temporary folder, so that its log
// names no path of this host.
func (s *session) startJVM(ctx context.Context) (home, address string, err error) {
	classes, err := s.compileService(ctx)
	if err != nil {
		return "", "", err
	}
	if home, err = build.FindJDK(ctx, s.jvm.release, true, func(text string) { fmt.Fprintln(os.Stderr, text) }); err != nil {
		return "", "", err
	}
	log := s.jvm.log
	if log == "" {
		log = everything
	}
	log = "-Xlog:" + log + ":file=" + s.tmpPath("gc.log") + ":time,uptime,pid,level,tags:filecount=0"
	args := append(slices.Clone(s.jvm.flags), log, "-cp", classes, "Service")
	var said struct{ Serving string }
	if s.service, err = process.Start(ctx, filepath.Join(home, "bin", "java"), append(args, s.args...), s.env, s.tmpPath("stderr"), &said); err != nil {
		return "", "", err
	}
	version, err := exec.CommandContext(ctx, filepath.Join(home, "bin", "java"), "-version").CombinedOutput()
	if err != nil {
		return "", "", fmt.Errorf("java -version: %w: %s", err, version)
	}
	told, _, _ := strings.Cut(string(version), "\n")
	s.truth.Command = strings.Join(append(append([]string{"java"}, s.jvm.flags...), append([]string{"Service"}, s.args...)...), " ")
	s.truth.Toolchain, s.truth.Procs, s.truth.PID = told, runtime.NumCPU(), s.service.PID
	return home, said.Serving, nil
}

// underLoad runs the load, keeps a row of each request, and records the process.
func (s *session) underLoad(ctx context.Context, plan load.Plan, home string) error {
	rows, err := os.Create(s.tmpPath("requests.txt"))
	if err != nil {
		return err
	}
	defer rows.Close()
	looks, ended := context.WithCancel(ctx)
	looked := make(chan error, 1)
	go func() { looked <- s.askJVM(looks, home, plan.Duration) }()
	stopProcfs := s.watchProcfs()
	from := markOf(s.service, s.others...)
	writer := &rowsOnly{load.NewRowWriter(rows, &plan)}
	result, err := load.Run(ctx, plan, writer)
	s.truth.All = from.windowUntil(markOf(s.service, s.others...))
	stopProcfs()
	ended()
	if err = errors.Join(err, writer.to.Flush(), rows.Close(), <-looked); err != nil {
		return err
	}
	kept := s.load
	kept.Connections = result.Connections
	s.truth.Load = loadResult(kept, result)
	s.truth.All.Latency = s.truth.Load.Latency
	return nil
}

// rowsOnly writes a row for each request that ends.
type rowsOnly struct{ to *load.RowWriter }

func (*rowsOnly) Progress(load.Snapshot)       {}
func (w *rowsOnly) Rows(rows []load.Row) error { return w.to.Write(rows) }

// askJVM takes thread dumps and class histograms of the JVM while the load goes on.
func (s *session) askJVM(ctx context.Context, home string, d time.Duration) error {
	ask := func(name string, words ...string) error {
		said, err := exec.Command(filepath.Join(home, "bin", "jcmd"), append([]string{strconv.Itoa(s.service.PID)}, words...)...).Output()
		if err != nil {
			return fmt.Errorf("jcmd %s: %w", words[0], err)
		}
		return os.WriteFile(s.tmpPath(name), said, 0o644)
	}
	if s.jvm.classes {
		if err := ask("histogram-1.txt", "GC.class_histogram", "-all"); err != nil {
			return err
		}
	}
	for n := range s.jvm.dumps {
		if sleepContext(ctx, d/time.Duration(s.jvm.dumps+1)) != nil {
			break
		}
		if err := ask(fmt.Sprintf("threads-%d.txt", n+1), "Thread.print", "-e"); err != nil {
			return err
		}
	}
	if s.jvm.classes {
		<-ctx.Done()
		return ask("histogram-2.txt", "GC.class_histogram", "-all")
	}
	return nil
}

// compileService compiles the service for the oldest release that it runs on. Its classes are
// copied beside the recording, which must not name the folders of this host.
func (s *session) compileService(ctx context.Context) (classes string, err error) {
	told := func(text string) { fmt.Fprintln(os.Stderr, text) }
	javac, err := build.FindJavac(ctx, true, told)
	if err != nil {
		return "", err
	}
	built, err := build.Java(ctx, javac, "record", javaSources, nil, 11, told)
	if err != nil {
		return "", err
	}
	classes = s.tmpPath("classes")
	return classes, os.CopyFS(classes, os.DirFS(built))
}

// jvmFiles returns the files of a recording that are kept.
func (r recording) jvmFiles(tmp string) (kept []artifact) {
	if r.jvm.flight {
		kept = append(kept, artifact{"flight.jfr", "flight.jfr.gz", true})
	}
	if r.jvm.alone {
		return kept
	}
	kept = append(kept, artifact{"gc.log", "gc.log.gz", true})
	if !r.jvm.silent {
		kept = append(kept, artifact{"requests.txt", "requests.txt.gz", true})
	}
	if r.procfs > 0 {
		kept = append(kept, artifact{"procfs.txtar", "procfs.txtar.gz", true})
	}
	dumps, _ := filepath.Glob(filepath.Join(tmp, "threads-*.txt")) // the pattern is well-formed
	for _, dump := range dumps {
		kept = append(kept, artifact{filepath.Base(dump), filepath.Base(dump), false})
	}
	if r.jvm.classes {
		kept = append(kept, artifact{"histogram-1.txt", "histogram-1.txt", false}, artifact{"histogram-2.txt", "histogram-2.txt", false})
	}
	return kept
}

// poissonPlan returns a plan of requests that arrive like those of many independent users.
func poissonPlan(rate float64) loadgen.Plan {
	return loadgen.Plan{Rate: rate, Poisson: true, Seed: 1, Timeout: 10 * time.Second}
}
