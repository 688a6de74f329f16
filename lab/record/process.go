package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/lab/service"
)

// process is a program this one started. It ends when its standard input does,
// so nothing outlives the recorder, however that ends.
type process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr *os.File
}

// start runs a program and decodes its first line of output.
func start(ctx context.Context, bin string, args, env []string, stderr string, announcement any) (*process, error) {
	p := &process{cmd: exec.CommandContext(ctx, bin, args...)}
	p.cmd.Env = append(os.Environ(), env...)
	var err error
	if p.stderr, err = os.Create(stderr); err != nil {
		return nil, err
	}
	p.cmd.Stderr = p.stderr
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	p.out = bufio.NewReader(out)
	if err := p.read(announcement); err != nil {
		p.stop()
		said, _ := os.ReadFile(stderr)
		return nil, fmt.Errorf("%s did not start: %w: %s", filepath.Base(bin), err, strings.TrimSpace(string(said)))
	}
	return p, nil
}

func (p *process) read(v any) error {
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		return err
	}
	return json.Unmarshal(line, v)
}

// command sends one line to a lab service and returns its state.
func (p *process) command(words ...string) (state service.State, err error) {
	if _, err := fmt.Fprintln(p.in, strings.Join(words, " ")); err != nil {
		return state, err
	}
	if err := p.read(&state); err != nil {
		return state, fmt.Errorf("%s: %w", words[0], err)
	}
	if state.Error != "" {
		err = errors.New(words[0] + ": " + state.Error)
	}
	return state, err
}

// stop closes standard input, waits, and after a while insists.
func (p *process) stop() error {
	p.in.Close()
	defer p.stderr.Close()
	impatience := time.AfterFunc(5*time.Second, func() { p.cmd.Process.Kill() })
	defer impatience.Stop()
	io.Copy(io.Discard, p.out)
	return p.cmd.Wait()
}

// builder builds each program once with each toolchain.
type builder struct {
	dir  string
	done map[string]string
}

func (b *builder) build(ctx context.Context, program, toolchain string) (string, error) {
	key := program + "@" + toolchain
	if bin := b.done[key]; bin != "" {
		return bin, nil
	}
	bin := filepath.Join(b.dir, cmp.Or(toolchain, "go"), filepath.Base(program)) // its name is in what it records
	args := []string{"build", "-o", bin}
	if toolchain != "" {
		args = append(args, "-modfile=lab/go1.21.mod")
	}
	cmd := exec.CommandContext(ctx, "go", append(args, "./lab/"+program)...)
	cmd.Env = os.Environ()
	if toolchain != "" {
		cmd.Env = append(cmd.Env, "GOTOOLCHAIN="+toolchain)
	}
	if said, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build ./lab/%s: %w: %s", program, err, said)
	}
	b.done[key] = bin
	return bin, nil
}

// buildAll builds what a recording needs.
func (b *builder) buildAll(ctx context.Context, r recording) error {
	if _, err := b.build(ctx, r.program, r.toolchain); err != nil {
		return err
	}
	for _, program := range []string{"dependency", "burn"} {
		if _, err := b.build(ctx, program, ""); err != nil {
			return err
		}
	}
	return nil
}

// cpuSeconds is the CPU time of a live process so far, from fields 14 and 15 of
// /proc/PID/stat; clock ticks are 10 ms on every Linux that Go runs on.
func cpuSeconds(pid int) float64 {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	f := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	if len(f) < 13 {
		return 0
	}
	user, _ := strconv.ParseFloat(f[11], 64)
	system, _ := strconv.ParseFloat(f[12], 64)
	return (user + system) / 100
}

// hostBusySeconds is the CPU time of everything on the host so far, from the
// first line of /proc/stat; stolen says how much of it the hypervisor took.
func hostBusySeconds() (busy, stolen float64) {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, 0
	}
	first, _, _ := strings.Cut(string(b), "\n")
	f := strings.Fields(first)
	for i, s := range f {
		v, _ := strconv.ParseFloat(s, 64)
		switch i {
		case 0, 4, 5: // "cpu", idle, iowait
		case 8:
			stolen = v / 100
		case 9, 10: // guests are part of user and nice
		default:
			busy += v / 100
		}
	}
	return busy, stolen
}
