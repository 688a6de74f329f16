package remote

import (
	"bufio"
	"bytes"
	"context"
	"debug/elf"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Options say how to reach another host.
type Options struct {
	Binary string       // the program for that host; "": this one
	Sudo   bool         // the program runs as root there
	Say    func(string) // is called with progress messages, and with text of the other host
}

// Host is another host on which the program waits for a request.
type Host struct {
	Title  string // beginning of errors: "ssh://shop-1"
	System string // "Linux x86_64", "" unknown

	ssh   *exec.Cmd // or another program that carries the connection
	in    io.WriteCloser
	out   *bufio.Reader
	pipe  io.Closer // of out
	said  *tail
	mu    sync.Mutex // held while a frame is written
	beats chan struct{}
	over  sync.Once
}

// marker begins the line by which the shell there answers. Text that a login prints comes before it.
const marker = "unstall-remote 1 "

// script is given to the login shell there, of any kind. So it is one line with only "…" in single quotes. It finds a folder in which
// programs may run, says which system it is on, takes the program from its input, and stays to remove everything.
const script = `exec sh -c 'umask 077; d=; end() { [ -z "$d" ] || rm -rf "$d"; }; trap end EXIT; trap "exit 129" HUP INT TERM PIPE; ` +
	`for t in "${TMPDIR:-/tmp}" /tmp /var/tmp /dev/shm "$HOME"; do d="$t/unstall.$$"; mkdir "$d" 2>/dev/null || { d=; continue; }; ` +
	`echo : >"$d/x" && chmod 700 "$d/x" && "$d/x" 2>/dev/null && break; rm -rf "$d"; d=; done; ` +
	`echo "` + marker + `$(uname -sm) ${d:-none}"; [ -n "$d" ] || exit 70; ` +
	`read n && head -c "$n" >"$d/unstall" && [ "$(wc -c <"$d/unstall")" -eq "$n" ] || exit 71; ` +
	`chmod 700 "$d/unstall"; echo copied; %s"$d/unstall" ` + GuestCommand + ` "$d"'`

// Connect reaches a host and copies the program there. If ctx ends before that, ssh is ended.
func Connect(ctx context.Context, a Address, opt Options) (*Host, error) {
	ssh, err := exec.LookPath("ssh")
	if err != nil {
		return nil, fmt.Errorf("%s: ssh is not installed: install the OpenSSH client", a)
	}
	sudo := ""
	if opt.Sudo {
		sudo = "sudo -n "
	}
	args := []string{"-T", "-C", "-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=4"}
	if a.Port != "" {
		args = append(args, "-p", a.Port)
	}
	if a.User != "" {
		args = append(args, "-l", a.User)
	}
	h, err := startCommand(a.String(), append(append([]string{ssh}, args...), "--", a.Host, fmt.Sprintf(script, sudo)))
	if err != nil {
		return nil, err
	}
	quit := context.AfterFunc(ctx, func() { _ = h.ssh.Process.Signal(syscall.SIGTERM) }) // ssh may be asking for a password, with echo off
	defer quit()
	if err := h.copyProgram(opt); err != nil {
		h.Close()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("%s: %w", a, err)
	}
	go h.sendBeats()
	return h, nil
}

// Start starts the container and returns it as a host. Recordings in the container are requested from that host.
func (a Sidecar) Start(command []string) (*Host, error) {
	h, err := startCommand(a.Of, append(slices.Clone(command), GuestCommand, OwnFolder))
	if err == nil {
		go h.sendBeats()
	}
	return h, err
}

func startCommand(title string, words []string) (*Host, error) {
	h := &Host{Title: title, said: new(tail), beats: make(chan struct{}), ssh: newUninterruptibleCommand(words[0], words[1:]...)}
	h.ssh.Stderr = h.said
	h.ssh.WaitDelay = 5 * time.Second
	out, err := h.ssh.StdoutPipe()
	if err == nil {
		h.in, err = h.ssh.StdinPipe()
	}
	if err == nil {
		err = h.ssh.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", title, words[0], err)
	}
	h.out, h.pipe = bufio.NewReaderSize(out, 64<<10), out
	return h, nil
}

// newUninterruptibleCommand returns a command that Ctrl-C does not end. A terminal sends Ctrl-C to all its foreground processes. Here it ends the
// recording, and the rest of the data still has to come. A signal that is ignored when ssh starts stays ignored (clientloop.c). ssh stays
// in the foreground of the terminal, where it asks for passwords.
func newUninterruptibleCommand(program string, args ...string) *exec.Cmd {
	if runtime.GOOS == "windows" {
		return exec.Command(program, args...)
	}
	return exec.Command("sh", append([]string{"-c", `trap "" INT HUP; exec "$0" "$@"`, program}, args...)...)
}

// copyProgram waits for the shell's answer and sends it the program.
func (h *Host) copyProgram(opt Options) error {
	answer, err := h.readLine(marker)
	if err != nil {
		return h.explainFailure("no shell answers", err)
	}
	words := strings.Fields(answer)
	if len(words) < 3 {
		return fmt.Errorf("its platform is unknown: uname there prints %q", sanitizeText(answer))
	}
	h.System = sanitizeText(strings.Join(words[:2], " "))
	if words[2] == "none" {
		return errors.New("no directory allows running a program (of $TMPDIR, /tmp, /var/tmp, /dev/shm, $HOME): set TMPDIR there to one that does")
	}
	name, err := chooseBinary(words[0], words[1], opt.Binary)
	if err != nil {
		return err
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	opt.Say(fmt.Sprintf("%s (%s): copying the program there, %.0f MiB, until this ends", h.Title, h.System, float64(fi.Size())/(1<<20)))
	if _, err = fmt.Fprintln(h.in, fi.Size()); err == nil {
		_, err = io.Copy(h.in, io.LimitReader(f, fi.Size()))
	}
	if err == nil {
		_, err = h.readLine("copied")
	}
	if err != nil {
		return h.explainFailure("the program could not be copied there", err)
	}
	return nil
}

// chooseBinary returns the program for a system: this one if it fits, else the given one.
func chooseBinary(system, machine, binary string) (string, error) {
	arch := map[string]string{"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}[machine]
	if system != "Linux" {
		return "", fmt.Errorf("it runs %s, and processes are recorded on Linux alone: bring its files here instead, such as logs and profiles", sanitizeText(system))
	}
	if binary == "" {
		if arch == runtime.GOARCH && runtime.GOOS == "linux" {
			return os.Executable()
		}
		if arch == "" {
			return "", fmt.Errorf("it is a %s: there are releases for amd64 and arm64; build one with GOOS=linux GOARCH=… go build ./cmd/unstall, and give it by --binary FILE", sanitizeText(machine))
		}
		return "", fmt.Errorf("it runs Linux on %s, and this program is for %s/%s: give one for it by --binary FILE (of the release's unstall-VERSION-linux-%s.tar.gz, or by GOOS=linux GOARCH=%s go build ./cmd/unstall)",
			arch, runtime.GOOS, runtime.GOARCH, arch, arch)
	}
	f, err := elf.Open(binary)
	if err != nil {
		return "", fmt.Errorf("--binary %s: it is no program for Linux: %w", binary, err)
	}
	defer f.Close()
	if is := map[elf.Machine]string{elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64"}[f.Machine]; arch != "" && is != arch {
		return "", fmt.Errorf("--binary %s: it is for %s, and that host is %s", binary, strings.TrimPrefix(f.Machine.String(), "EM_"), arch)
	}
	return binary, nil
}

// readLine reads up to the first line that begins with a text, because a login may print other lines before. It returns the rest of that
// line.
func (h *Host) readLine(begins string) (string, error) {
	for read := 0; read < 64<<10; {
		b, err := h.out.ReadSlice('\n')
		read += len(b)
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return "", err
		}
		if rest, ok := strings.CutPrefix(strings.TrimRight(string(b), "\r\n"), begins); ok {
			return rest, nil
		}
	}
	return "", errors.New("its shell prints much and no answer")
}

// explainFailure closes the connection and returns what went wrong, with the last output of ssh or of the other side.
func (h *Host) explainFailure(what string, err error) error {
	h.Close()
	if last := h.said.lastLine(); last != "" {
		return fmt.Errorf("%s: %s", what, last)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("the connection ended")
	}
	return fmt.Errorf("%s: %w", what, err)
}

func (h *Host) send(f frame) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return f.write(h.in)
}

// sendBeats tells the guest regularly that this side is there.
func (h *Host) sendBeats() {
	tick := time.NewTicker(Silence / 5)
	defer tick.Stop()
	for {
		select {
		case <-h.beats:
			return
		case <-tick.C:
			_ = h.send(frame{kind: beat})
		}
	}
}

// Taker receives the output of a recording.
type Taker struct {
	Say   io.Writer                                // text for people, already sanitized
	Begin func(target string) (io.WriterAt, error) // returns where to write the capture
	First func()                                   // is called when a first finding can be made
}

// Record sends a request and receives the output until the recording has ended. If ctx ends, the recording ends, and the rest of the data
// still comes. The error says that the connection was lost; received data is kept.
func (h *Host) Record(ctx context.Context, what any, to Taker) (code int, err error) {
	payload, err := json.Marshal(what)
	if err != nil {
		return 0, err
	}
	if err := h.send(frame{request, payload}); err != nil {
		return 0, fmt.Errorf("%s: %w", h.Title, h.explainFailure("the program does not start there", err))
	}
	quit := context.AfterFunc(ctx, func() { _ = h.send(frame{kind: stop}) })
	defer quit()
	if _, err := h.readLine(greeting); err != nil {
		return 0, fmt.Errorf("%s: %w", h.Title, h.explainFailure("the program does not run there", err))
	}
	var into io.WriterAt
	for {
		f, err := readFrame(h.out)
		if err != nil {
			return 0, fmt.Errorf("%s: %w; the recording up to then is kept", h.Title, h.explainFailure("the connection was lost", err))
		}
		switch f.kind {
		case said:
			for line := range strings.Lines(string(f.payload)) {
				fmt.Fprintln(to.Say, sanitizeText(line))
			}
		case named:
			if into == nil {
				if into, err = to.Begin(sanitizeText(string(f.payload))); err != nil {
					return 0, err
				}
			}
		case data:
			if into == nil || len(f.payload) < 8 {
				return 0, fmt.Errorf("%s: the other side does not speak unstall's protocol", h.Title)
			}
			if _, err := into.WriteAt(f.payload[8:], int64(binary.BigEndian.Uint64(f.payload)&(1<<62-1))); err != nil {
				return 0, err
			}
		case first:
			if into != nil && to.First != nil {
				to.First()
			}
		case ended:
			var r result
			if err := json.Unmarshal(f.payload, &r); err != nil {
				return 0, fmt.Errorf("%s: %w", h.Title, err)
			}
			return r.Code, nil
		}
	}
}

// Close ends the connection; the other side cleans up by itself.
func (h *Host) Close() {
	h.over.Do(func() {
		close(h.beats)
		_ = h.in.Close()
		gave := time.AfterFunc(3*time.Second, func() {
			_ = h.ssh.Process.Kill()
			_ = h.pipe.Close() // other processes may hold the pipe open, too
		})
		_, _ = io.Copy(io.Discard, h.out)
		_ = h.ssh.Wait()
		gave.Stop()
	})
}

// tail keeps the last bytes written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	if over := len(t.text) - 4<<10; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(b), nil
}

// lastLine returns the last line, without control characters for a terminal.
func (t *tail) lastLine() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := bytes.Split(bytes.TrimSpace(t.text), []byte("\n"))
	return sanitizeText(string(lines[len(lines)-1]))
}

// sanitizeText returns text of the other side, without control characters for a terminal.
func sanitizeText(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' {
			return ' '
		}
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
}
