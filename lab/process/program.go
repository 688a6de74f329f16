package process

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Program is a program that does not know its starter: it is ready when it accepts
// connections, and ends by a signal.
type Program struct {
	PID  int
	Name string

	cmd   *exec.Cmd
	log   string
	ended chan struct{}
	err   error // once it ended
}

// Spec is how a program is started.
type Spec struct {
	Bin   string
	Args  []string
	Env   []string // the whole environment
	Dir   string   // working directory; "": this process's
	Log   string   // file for all its output
	Group *Quota   // the group that it is in from its first instruction; nil: none
}

// Launch starts a program. It is killed if this process is.
func Launch(s Spec) (*Program, error) {
	out, err := os.Create(s.Log)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	p := &Program{Name: filepath.Base(s.Bin), log: s.Log, ended: make(chan struct{})}
	p.cmd = exec.Command(s.Bin, s.Args...)
	if s.Group != nil { // a runtime counts its CPUs when it starts
		enter := []string{"-c", `echo $$ >"$0" && exec "$@"`, s.Group.membersFile(), s.Bin}
		p.cmd = exec.Command("/bin/sh", append(enter, s.Args...)...)
	}
	p.cmd.Env, p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr, p.cmd.SysProcAttr = s.Env, s.Dir, out, out, ownGroupAttr()
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	p.PID = p.cmd.Process.Pid
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// Accepts waits until a program accepts connections at its address.
func (p *Program) Accepts(ctx context.Context, address string, patience time.Duration) error {
	const between = 20 * time.Millisecond
	tick := time.NewTicker(between)
	defer tick.Stop()
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		if c, err := net.DialTimeout("tcp", address, time.Second); err == nil {
			return c.Close()
		}
		select {
		case <-tick.C:
		case <-p.ended:
			return p.Failed()
		case <-late.C:
			return fmt.Errorf("%s accepts no connections at %s after %v: %s", p.Name, address, patience, p.lastOutput())
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Wait waits until a program ends, or stops it when the context ends, and
// returns an error unless it ended well.
func (p *Program) Wait(ctx context.Context) error {
	select {
	case <-p.ended:
		return p.Failed()
	case <-ctx.Done():
		p.Stop()
		return ctx.Err()
	}
}

// Failed returns how a program ended unasked, nil if it runs or ended well.
func (p *Program) Failed() error {
	select {
	case <-p.ended:
	default:
		return nil
	}
	if p.err == nil {
		return nil
	}
	return fmt.Errorf("%s ended: %w: %s", p.Name, p.err, p.lastOutput())
}

// Running says whether a program has not ended yet.
func (p *Program) Running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// lastOutput returns the end of what a program wrote.
func (p *Program) lastOutput() string {
	const most = 600
	text, _ := os.ReadFile(p.log)
	return strings.TrimSpace(string(text[max(0, len(text)-most):]))
}

// Stop asks a program to end, waits, and kills it after a while.
func (p *Program) Stop() error {
	if p == nil || !p.Running() {
		return nil
	}
	if err := endProcess(p.cmd.Process); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	impatience := time.NewTimer(patience)
	defer impatience.Stop()
	select {
	case <-p.ended:
		return nil
	case <-impatience.C:
	}
	p.cmd.Process.Kill()
	<-p.ended
	return nil
}

// CPU returns the CPU time of a program that has ended, s.
func (p *Program) CPU() float64 {
	if p.Running() || p.cmd.ProcessState == nil {
		return 0
	}
	return (p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime()).Seconds()
}

// FreeAddress returns an unused address on loopback.
func FreeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}
