// Package process starts the programs of labs, recorders and tests, which end when their starter
// ends.
package process

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/unstall/unstall/lab/service"
)

// patience is how long a program may take to end.
const patience = 5 * time.Second

// Process is a program that this one started. It ends when its standard input does,
// so it never outlives a lab, however the lab ends.
type Process struct {
	PID int

	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr *os.File
}

// Start runs a program and decodes its first line of output. Its standard error
// goes to a file.
func Start(ctx context.Context, bin string, args, env []string, stderr string, announcement any) (*Process, error) {
	p := &Process{cmd: exec.CommandContext(ctx, bin, args...)}
	p.cmd.Env = append(os.Environ(), env...)
	var err error
	if p.stderr, err = os.Create(stderr); err != nil {
		return nil, err
	}
	p.cmd.Stderr = p.stderr
	if err := p.startPiped(); err != nil {
		p.stderr.Close()
		return nil, err
	}
	if err := p.readJSON(announcement); err != nil {
		p.Stop()
		said, _ := os.ReadFile(stderr)
		return nil, fmt.Errorf("%s did not start: %w: %s", filepath.Base(bin), err, strings.TrimSpace(string(said)))
	}
	return p, nil
}

// startPiped starts the program with pipes as its standard input and output.
func (p *Process) startPiped() (err error) {
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return err
	}
	// Also when the context ends: a killed runtime leaves its sockets behind.
	p.cmd.Cancel, p.cmd.WaitDelay = p.in.Close, patience
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := p.cmd.Start(); err != nil {
		return err
	}
	p.PID, p.out = p.cmd.Process.Pid, bufio.NewReader(out)
	return nil
}

// readJSON decodes the next line of output that is JSON: a JVM writes its warnings there, too.
func (p *Process) readJSON(v any) error {
	for {
		line, err := p.out.ReadBytes('\n')
		if err != nil {
			return err
		}
		if bytes.HasPrefix(line, []byte("{")) {
			return json.Unmarshal(line, v)
		}
	}
}

// Line waits for the next line of output.
func (p *Process) Line() (string, error) {
	line, err := p.out.ReadString('\n')
	return strings.TrimRight(line, "\r\n"), err
}

// Send writes a line to standard input.
func (p *Process) Send(line string) error {
	_, err := fmt.Fprintln(p.in, line)
	return err
}

// Command sends one line to a lab service and returns its state.
func (p *Process) Command(words ...string) (state service.State, err error) {
	if err := p.Send(strings.Join(words, " ")); err != nil {
		return state, err
	}
	if err := p.readJSON(&state); err != nil {
		return state, fmt.Errorf("%s: %w", words[0], err)
	}
	if state.Error != "" {
		err = errors.New(words[0] + ": " + state.Error)
	}
	return state, err
}

// Stop closes standard input, waits, and kills the process after a while.
func (p *Process) Stop() error {
	p.in.Close()
	defer p.stderr.Close()
	impatience := time.AfterFunc(patience, func() { p.cmd.Process.Kill() })
	defer impatience.Stop()
	io.Copy(io.Discard, p.out)
	return p.cmd.Wait()
}
