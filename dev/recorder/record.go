package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/unstall/unstall/lab"
	"github.com/unstall/unstall/lab/loadgen"
	"github.com/unstall/unstall/lab/process"
	"github.com/unstall/unstall/lab/service"
)

// session is one recording in progress.
type session struct {
	recording
	tmp      string
	service  *process.Process
	announce service.Announcement
	others   []*process.Process
	group    *process.Quota // of the service, nil: that of the recorder
	truth    *truth
	client   *loadgen.Client
}

// settle is the time between the last request and the end of a trace. In it the last goroutines return to reading, so that the trace has
// their requests whole.
const settle = 100 * time.Millisecond

// recordService makes a recording of a lab/service in a temporary folder and returns
// its truth.
func recordService(ctx context.Context, b *builder, r recording, tmp string, say func(string)) (t *truth, err error) {
	s := &session{recording: r, tmp: tmp}
	defer func() {
		for _, p := range s.others {
			p.Stop()
		}
		if gone := s.group.Remove(); err == nil {
			err = gone
		}
	}()
	if err := s.startAll(ctx, b); err != nil {
		return nil, err
	}
	if err := s.recordLoad(ctx, say); err != nil {
		s.service.Stop()
		return nil, err
	}
	if s.client != nil {
		s.client.Close()
	}
	if err := s.service.Stop(); err != nil {
		return nil, err
	}
	if r.cpu > 0 {
		share, err := collectorShare(s.tmpPath("cpu.pb.gz"))
		if err != nil {
			return nil, err
		}
		s.truth.Collector = &share
	}
	return s.truth, nil
}

func (s *session) tmpPath(name string) string { return filepath.Join(s.tmp, name) }

// startAll starts the dependency, the neighbours and the service.
func (s *session) startAll(ctx context.Context, b *builder) error {
	t := &truth{ID: s.id, About: s.about, Recorded: time.Now().UTC().Format(time.RFC3339), Recipe: "go run ./dev/recorder one " + s.id, Cores: runtime.NumCPU(), Env: s.env}
	var at struct{ RESP, HTTP string }
	if s.dependency != nil {
		bin, err := b.buildProgram(ctx, "dependency", "")
		if err != nil {
			return err
		}
		p, err := process.Start(ctx, bin, s.dependency, nil, s.tmpPath("dependency.stderr"), &at)
		if err != nil {
			return err
		}
		s.others = append(s.others, p)
		t.Others = append(t.Others, strings.Join(append([]string{"dependency"}, s.dependency...), " "))
	}
	bin, err := b.buildProgram(ctx, s.program, s.toolchain)
	if err != nil {
		return err
	}
	fill := strings.NewReplacer("{resp}", at.RESP, "{http}", at.HTTP)
	args := []string{"-control", "-access-log=" + s.tmpPath("access.log")}
	command := []string{s.program}
	for _, a := range s.args {
		args, command = append(args, fill.Replace(a)), append(command, a)
	}
	env := s.env
	if s.gctrace {
		env = append([]string{"GODEBUG=gctrace=1"}, env...)
	}
	if s.service, err = process.Start(ctx, bin, args, env, s.tmpPath("gctrace.log"), &s.announce); err != nil {
		return err
	}
	if s.quota > 0 {
		if s.group, err = process.NewQuota(s.quota); err == nil {
			err = s.group.Add(s.service.PID)
		}
		if err != nil {
			s.service.Stop()
			return err
		}
		t.Others = append(t.Others, fmt.Sprintf("a quota of %g CPUs in periods of 100 ms", s.quota))
	}
	if err := s.startNeighbours(ctx, b, t); err != nil {
		s.service.Stop()
		return err
	}
	t.Command, t.Toolchain, t.Procs, t.PID = strings.Join(command, " "), s.announce.Go, s.announce.Procs, s.announce.PID
	s.truth = t
	return nil
}

func (s *session) startNeighbours(ctx context.Context, b *builder, t *truth) error {
	for i, args := range s.neighbours {
		bin, err := b.buildProgram(ctx, "burn", "")
		if err != nil {
			return err
		}
		p, err := process.Start(ctx, bin, args, nil, s.tmpPath(fmt.Sprintf("burn%d.stderr", i)), new(any))
		if err != nil {
			return err
		}
		s.others = append(s.others, p)
		t.Others = append(t.Others, strings.Join(append([]string{"burn"}, args...), " "))
	}
	return nil
}

// takeMark reads the state of the service and of the host.
func (s *session) takeMark(words ...string) (mark, error) {
	state, err := s.service.Command(words...)
	m := mark{State: state}
	m.busy, m.stolen = lab.HostBusySeconds()
	var own syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &own) == nil {
		m.ours = float64(own.Utime.Nano()+own.Stime.Nano()) / 1e9
	}
	for _, p := range append([]*process.Process{s.service}, s.others...) {
		m.ours += lab.CPUSeconds(p.PID)
	}
	for _, p := range s.others {
		m.beside += lab.CPUSeconds(p.PID)
	}
	return m, err
}

// recordLoad runs the load and the recorders.
func (s *session) recordLoad(ctx context.Context, say func(string)) error {
	begin, err := s.takeMark("state")
	if err != nil {
		return err
	}
	stopProcfs := s.watchProcfs()
	if s.whole {
		err = s.runWhole(ctx, say)
	} else {
		err = s.runMiddle(ctx, say)
	}
	stopProcfs()
	if err != nil {
		return err
	}
	end, err := s.takeMark("state")
	if err != nil {
		return err
	}
	s.truth.All = windowBetween(begin, end)
	s.truth.addLatencies()
	for _, name := range s.profiles {
		if _, err := s.service.Command("profile", name, s.tmpPath(name+".pb.gz")); err != nil {
			return err
		}
	}
	return nil
}

// runWhole records a trace that holds all the requests of the load.
func (s *session) runWhole(ctx context.Context, say func(string)) (err error) {
	if s.warm > 0 {
		say("warming up")
		if err := s.dialService(); err != nil {
			return err
		}
		s.client.Run(ctx, s.warmLoad())
		if s.dialInside {
			s.client.Close()
			s.client = nil
		}
		time.Sleep(settle)
	}
	if s.client == nil && !s.dialInside {
		if err := s.dialService(); err != nil {
			return err
		}
		time.Sleep(settle)
	}
	say("tracing")
	from, err := s.takeMark("trace", s.tmpPath("trace.out"))
	if err != nil {
		return err
	}
	if s.client == nil {
		if err := s.dialService(); err != nil {
			return err
		}
	}
	result := s.client.Run(ctx, s.load)
	time.Sleep(settle)
	until, err := s.takeMark("trace-end")
	if err != nil {
		return err
	}
	s.truth.Load, s.truth.Trace = &result, windowBetween(from, until)
	return ctx.Err()
}

func (s *session) warmLoad() loadgen.Plan {
	warm := s.load
	if warm.Rate == 0 {
		warm.Requests = 64
		return warm
	}
	return warm.For(s.warm)
}

func (s *session) dialService() (err error) {
	s.client, err = loadgen.Dial(s.announce.Serving, s.load.Connections)
	return err
}

// runMiddle records a CPU profile and then a trace from the middle of the load.
func (s *session) runMiddle(ctx context.Context, say func(string)) error {
	if err := s.dialService(); err != nil {
		return err
	}
	const gap = 200 * time.Millisecond
	plan := s.load
	plan.Requests = math.MaxInt // until all is recorded: a saturated service obeys late
	loadContext, endLoad := context.WithCancel(ctx)
	defer endLoad()
	done := make(chan loadgen.Result, 1)
	go func() { done <- s.client.Run(loadContext, plan) }()
	err := s.recordMiddle(ctx, say, gap)
	endLoad()
	result := <-done
	result.Plan.Requests = int(result.Sent)
	s.truth.Load = &result
	return err
}

func (s *session) recordMiddle(ctx context.Context, say func(string), gap time.Duration) error {
	say("warming up")
	if err := sleepContext(ctx, s.warm); err != nil {
		return err
	}
	if s.goroutines {
		if _, err := s.service.Command("profile", "goroutine", s.tmpPath("goroutine-1.pb.gz")); err != nil {
			return err
		}
	}
	if s.cpu > 0 {
		say("profiling")
		w, err := s.recordWindow(ctx, "cpu", "cpu.pb.gz", s.cpu)
		if err != nil {
			return err
		}
		s.truth.CPU = w
		if err := sleepContext(ctx, gap); err != nil {
			return err
		}
	}
	if s.trace > 0 {
		say("tracing")
		record := s.recordWindow
		if s.overHTTP {
			record = s.windowOverHTTP
		}
		w, err := record(ctx, "trace", "trace.out", s.trace)
		if err != nil {
			return err
		}
		s.truth.Trace = w
	}
	if err := sleepContext(ctx, gap); err != nil {
		return err
	}
	if s.goroutines {
		if _, err := s.service.Command("profile", "goroutine", s.tmpPath("goroutine-2.pb.gz")); err != nil {
			return err
		}
	}
	return sleepContext(ctx, s.tail)
}

// recordWindow runs one recorder of the service for a while.
func (s *session) recordWindow(ctx context.Context, what, name string, d time.Duration) (*window, error) {
	from, err := s.takeMark(what, s.tmpPath(name))
	if err != nil {
		return nil, err
	}
	if err := sleepContext(ctx, d); err != nil {
		return nil, err
	}
	until, err := s.takeMark(what + "-end")
	if err != nil {
		return nil, err
	}
	return windowBetween(from, until), nil
}

// windowOverHTTP asks net/http/pprof, as in production. Its
// window is a little wider than the trace.
func (s *session) windowOverHTTP(ctx context.Context, what, name string, d time.Duration) (*window, error) {
	from, err := s.takeMark("state")
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, "GET", fmt.Sprintf("http://%s/debug/pprof/%s?seconds=%v", s.announce.Debug, what, d.Seconds()), nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	out, err := os.Create(s.tmpPath(name))
	if err != nil {
		return nil, err
	}
	defer out.Close()
	if _, err := io.Copy(out, answer.Body); err != nil {
		return nil, err
	}
	until, err := s.takeMark("state")
	if err != nil {
		return nil, err
	}
	return windowBetween(from, until), out.Close()
}

func sleepContext(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
