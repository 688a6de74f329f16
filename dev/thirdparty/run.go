package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/unstall/unstall/lab/process"
)

// A session has what all runs share.
type session struct {
	cache, keep, tool string
	long, warm        time.Duration
	later             bool // do not diagnose what was recorded
}

// runVariant runs one variant: started, warmed, recorded under load, stopped, diagnosed.
func (s session) runVariant(ctx context.Context, p program, v variant, home string) (err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	dir, err := os.MkdirTemp("", "thirdparty-"+p.name+"-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.MkdirAll(s.keep, 0o755); err != nil {
		return err
	}
	at := &place{home: home, dir: dir, ports: map[string]int{}}
	p.start(at)
	if v.load != nil {
		at.load = v.load
	}
	if v.sick != nil {
		v.sick(at)
	}
	name := filepath.Join(s.keep, p.name+"-"+v.name)
	for _, of := range append([]string{".unstall", ".rows", ".truth", ".log"}, answers...) {
		_ = os.Remove(name + of) // of an earlier run
	}

	if at.ports["backend"] != 0 {
		end, err := startBeside(ctx, os.Args[0], "backend", at.addressOf("backend"), at.backend.String(), strconv.Itoa(at.within))
		if err != nil {
			return err
		}
		defer end()
	}
	pid, end, err := at.startProgram(ctx, name+".log")
	if err != nil {
		return err
	}
	defer end()
	if at.quota > 0 {
		if at.group, err = process.NewQuota(at.quota); err != nil {
			return err
		}
		defer at.group.Remove()
		if err := errors.Join(at.group.Prefer(), at.group.Add(pid)); err != nil {
			return err
		}
	}
	for range at.burn {
		end, err := startBeside(ctx, os.Args[0], "backend", "burn")
		if err != nil {
			return err
		}
		defer end()
	}

	rows, err := newRows(name+".rows", "http://"+at.main)
	if err != nil {
		return err
	}
	var loads sync.WaitGroup
	warm := max(s.warm, at.warm)
	loading, stopLoad := context.WithTimeout(ctx, warm+s.long+30*time.Second)
	defer stopLoad()
	for _, t := range at.load {
		loads.Go(func() {
			if e := t(loading, at, rows); e != nil && loading.Err() == nil {
				fmt.Fprintf(os.Stderr, "%s/%s: load: %v\n", p.name, v.name, e)
			}
		})
	}
	sleepContext(ctx, warm)

	before, from := readCounters(pid, at), time.Now()
	record := exec.CommandContext(ctx, s.tool, "record", strconv.Itoa(pid), "--for", s.long.String(), "--capture", name+".unstall")
	said, err := record.CombinedOutput()
	to := time.Now()
	after := readCounters(pid, at)
	stopLoad()
	loads.Wait()
	if e := rows.close(); e != nil {
		return e
	}
	if err != nil {
		return fmt.Errorf("record: %w: %s", err, said)
	}
	truth := truth{name: p.name + "/" + v.name, what: v.truth, from: from, to: to, before: before, after: after, said: said}
	if err := truth.writeFile(name, rows.path); err != nil {
		return err
	}
	if s.later {
		return nil
	}
	return s.diagnoseCapture(ctx, name)
}

// answers are the file extensions of diagnoses.
var answers = []string{".txt", ".alone.txt", ".json"}

// diagnoseCapture writes the diagnosis of a capture, with its requests and without.
func (s session) diagnoseCapture(ctx context.Context, name string) error {
	for _, of := range answers {
		_ = os.Remove(name + of)
	}
	var failed []error
	for _, d := range []struct {
		to    string
		files []string
	}{{".txt", []string{name + ".unstall", name + ".rows"}}, {".alone.txt", []string{name + ".unstall"}}, {".json", []string{name + ".unstall", name + ".rows"}}} {
		c := exec.CommandContext(ctx, s.tool, append([]string{"diagnose", "-o", name + d.to}, d.files...)...)
		if out, err := c.CombinedOutput(); err != nil {
			failed = append(failed, fmt.Errorf("diagnose: %w: %s", err, out))
		}
	}
	return errors.Join(failed...)
}

// startProgram starts the program and waits until it is ready and has its data.
func (p *place) startProgram(ctx context.Context, log string) (pid int, end func(), err error) {
	out, err := os.Create(log)
	if err != nil {
		return 0, nil, err
	}
	c := exec.Command(p.bin, p.args...)
	c.Dir, c.Stdout, c.Stderr = p.dir, out, out
	c.Env = append(os.Environ(), p.env...)
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := c.Start(); err != nil {
		return 0, nil, err
	}
	gone := make(chan error, 1)
	go func() { gone <- c.Wait() }()
	end = func() {
		_ = c.Process.Signal(syscall.SIGTERM)
		select {
		case <-gone:
		case <-time.After(5 * time.Second):
			_ = c.Process.Kill()
		}
		out.Close()
	}
	patience := p.patience
	if patience == 0 {
		patience = 30 * time.Second
	}
	ready := p.ready
	if ready == nil {
		ready = func(context.Context) error { return checkAccepts(p.main) }
	}
	for deadline := time.Now().Add(patience); ; sleepContext(ctx, 50*time.Millisecond) {
		err := ready(ctx)
		if err == nil {
			break
		}
		select {
		case e := <-gone:
			gone <- e
			err = fmt.Errorf("it ended, see %s: %w", log, cmp.Or(e, err))
		default:
			if time.Now().Before(deadline) && ctx.Err() == nil {
				continue
			}
		}
		end()
		return 0, nil, fmt.Errorf("not ready: %w", err)
	}
	if p.prepare != nil {
		if err := p.prepare(ctx); err != nil {
			end()
			return 0, nil, fmt.Errorf("its data: %w", err)
		}
	}
	return c.Process.Pid, end, nil
}

// startBeside starts a process that ends with this one.
func startBeside(ctx context.Context, name string, args ...string) (end func(), err error) {
	c := exec.CommandContext(ctx, name, args...)
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		return nil, err
	}
	return func() { _ = c.Process.Kill(); _ = c.Wait() }, nil
}

// serveBackend serves as a dependency that answers after a given delay, a given number of requests at
// a time; or a neighbour that burns CPU.
func serveBackend(args []string) {
	if args[0] == "burn" {
		for n := uint64(1); n != 0; n++ { // for centuries
		}
	}
	delay, err := time.ParseDuration(args[1])
	if err != nil {
		panic(err)
	}
	var places chan struct{}
	if n, _ := strconv.Atoi(args[2]); n > 0 {
		places = make(chan struct{}, n)
	}
	body := make([]byte, 4<<10)
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if places != nil {
			places <- struct{}{}
			defer func() { <-places }()
		}
		time.Sleep(delay)
		_, _ = w.Write(body)
	})
	panic(http.ListenAndServe(args[0], nil))
}

func checkAccepts(addr string) error {
	c, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return err
	}
	return c.Close()
}

func sleepContext(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
