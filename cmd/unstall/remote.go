package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/record"
	"github.com/unstall/unstall/internal/collect/remote"
	"github.com/unstall/unstall/internal/present/text"
)

// elsewhere holds the flags for reaching targets on another host.
type elsewhere struct {
	Binary string `placeholder:"FILE" help:"With ssh://HOST/TARGET: the unstall binary for that host, if its architecture differs (default: this program)."`
	Sudo   bool   `help:"With ssh://HOST/TARGET: record there as root, with passwordless sudo."`
}

// away are targets on another host.
type away struct {
	elsewhere
	host    remote.Address
	targets []string // as a user would type them on that host
}

// splitRemote separates targets on another host from the other typed arguments; *away is nil if there are none.
func (e elsewhere) splitRemote(typed []string) (*away, []string, error) {
	var a *away
	var rest []string
	for _, arg := range typed {
		host, target, is, err := remote.Parse(arg)
		switch {
		case err != nil:
			return nil, nil, err
		case !is:
			rest = append(rest, arg)
		case a == nil:
			a = &away{e, host, []string{target}}
		case a.host != host:
			return nil, nil, fmt.Errorf("%s: targets of %s were given, too: record one host at a time", arg, a.host)
		default:
			a.targets = append(a.targets, target)
		}
	}
	if a == nil && (e.Binary != "" || e.Sudo) {
		return nil, nil, errors.New("--binary and --sudo are for a target on another host: ssh://HOST/PID")
	}
	if a != nil && len(a.targets) > 1 && slices.Contains(a.targets, "") {
		return nil, nil, fmt.Errorf("%s: name a process there: its PID or its name", a.host)
	}
	return a, rest, nil
}

// checkLoad refuses a load that the other host cannot make.
func (a *away) checkLoad(b besides) error {
	if b.Load == "" {
		return nil
	}
	if (&loadCommand{URL: b.Load}).isJourney() {
		return fmt.Errorf("--load %s: the load runs on %s, which does not have that file: give a URL that is reachable from there, or run unstall load here during the recording", b.Load, a.host)
	}
	if strings.HasPrefix(b.Body, "@") {
		return fmt.Errorf("--body %s: the load runs on %s, which does not have that file: give the text", b.Body, a.host)
	}
	return nil
}

// refuseLocalTarget returns the error for a target of this host beside those of another host, because their clocks differ.
func (a *away) refuseLocalTarget(other string) error {
	return fmt.Errorf("%s: targets of %s were given, too: record one host at a time", other, a.host)
}

// targetNames returns all targets as they were typed, without passwords.
func targetNames(live []discover.Target, a *away) (all []string) {
	for _, t := range live {
		all = append(all, targetAsTyped(t))
	}
	if a != nil {
		for _, t := range a.targets {
			all = append(all, a.host.String()+"/"+t)
		}
	}
	return all
}

// errand is a request to the program on another host.
type errand struct {
	Version   string
	List      bool // only list the processes there
	Width     int  // of the terminal
	As        string
	Targets   []string
	Recording recording
	Besides   besides
	First     bool
	Beside    bool // target a container's process with a known runtime, else its first process
}

// recordAway records targets on another host into a capture here and returns its path; "" if there is none, after printing why.
func (s *session) recordAway(a *away, r recording, b besides, first func(path string)) (path string) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	context.AfterFunc(ctx, stop)
	h, err := remote.Connect(ctx, a.host, remote.Options{Binary: a.Binary, Sudo: a.Sudo, Say: func(text string) { s.printNote("%s", text) }})
	if err != nil {
		s.reportError(unreadable, err)
		return ""
	}
	defer h.Close()
	to := s.err
	e := errand{Version: programVersion(), As: a.host.String() + "/", Targets: a.targets, Recording: r, Besides: b, First: first != nil}
	e.Recording.Capture = ""
	if a.targets[0] == "" {
		e.List, e.Width, to = true, text.For(s.out).Width, s.out
	}
	return s.fetchCapture(ctx, h, e, to, r, first)
}

// fetchCapture has a host do an errand and stores the resulting capture. It returns the capture's path, "" if there is none.
func (s *session) fetchCapture(ctx context.Context, h *remote.Host, e errand, to io.Writer, r recording, first func(path string)) (path string) {
	defer h.Close()
	var file *os.File
	var early chan struct{}
	code, err := h.Record(ctx, e, remote.Taker{Say: to,
		Begin: func(target string) (_ io.WriterAt, err error) {
			path, err = record.Place(r.Capture, r.dir, target, time.Now(), func(path string) (err error) {
				file, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
				return err
			})
			if err != nil {
				return nil, fmt.Errorf("%w: give another name with --capture", err)
			}
			return file, nil
		},
		First: func() {
			if first != nil && early == nil {
				early = make(chan struct{})
				go func() { defer close(early); first(path) }()
			}
		}})
	if early != nil {
		<-early
	}
	if file != nil {
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		s.reportError(unreadable, err)
	}
	s.code = max(s.code, code)
	if file == nil {
		if !e.List && code == unreadable && e.As != "" {
			s.printNote("to list its processes: unstall %s", strings.TrimSuffix(e.As, "/"))
		}
		return ""
	}
	return path
}

// runGuest is the program on the other host: it makes the recording that the errand asks for.
func runGuest(dir string) error {
	return remote.Guest(dir, os.Stdin, os.Stdout, remote.Silence, func(ctx context.Context, request json.RawMessage, path string, say io.Writer, first func()) int {
		s := &session{in: strings.NewReader(""), out: say, err: say, noPager: true}
		var e errand
		if err := json.Unmarshal(request, &e); err != nil {
			s.reportError(wrongUse, fmt.Errorf("the program there has another version (%s): give one of the same version with --binary", programVersion()))
			return s.code
		}
		if e.Version != programVersion() {
			s.printNote("warning: the program there is %s, this one %s", programVersion(), e.Version)
		}
		if e.List {
			s.listAway(ctx, e)
			return s.code
		}
		send, err := e.Besides.newSending(e.Recording.For)
		if err != nil {
			s.reportError(wrongUse, err)
			return s.code
		}
		if e.Beside {
			e.Targets = []string{mainProcess(ctx)}
		}
		live, files := s.splitInputs(e.Targets)
		if len(files) > 0 {
			s.reportError(wrongUse, fmt.Errorf("%s%s: that is a file there, not a process: copy it here with scp", e.As, files[0]))
			return s.code
		}
		if len(live) == 0 {
			return s.code
		}
		r := e.Recording
		r.Capture = path
		var begin func(string)
		if e.First {
			begin = func(string) { first() }
		}
		s.recordUntil(ctx, r, live, send, begin)
		return s.code
	})
}

// mainProcess returns the PID of a container's main process: the lowest PID among those whose
// runtime is known, else 1.
func mainProcess(ctx context.Context) string {
	found, err := listProcesses(ctx)
	if err != nil || len(found) == 0 {
		return "1"
	}
	best := found[0].PID
	for _, f := range found {
		best = min(best, f.PID)
	}
	return strconv.Itoa(best)
}

// listAway lists the processes of this host for a user on another host.
func (s *session) listAway(ctx context.Context, e errand) {
	found, err := listProcesses(ctx)
	if err != nil {
		s.reportError(unreadable, err)
		return
	}
	for i := range found {
		found[i].Next = fmt.Sprintf("unstall %s%d", e.As, found[i].PID)
	}
	o := text.For(s.out)
	o.Width = e.Width
	fmt.Fprint(s.out, formatListing(found, o, os.Geteuid() == 0))
}
