package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/base/redact"
	"github.com/unstall/unstall/internal/base/suggest"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/collect/probe/all"
	"github.com/unstall/unstall/internal/collect/probe/otlp"
	"github.com/unstall/unstall/internal/collect/record"
	"github.com/unstall/unstall/internal/format/spans"
)

// recording holds the flags for recording live targets.
type recording struct {
	For      time.Duration `default:"30s" env:"UNSTALL_FOR" help:"How long to record a process."`
	Passive  bool          `help:"Switch nothing on in the process; only read existing data."`
	JFR      bool          `name:"jfr" help:"Also make a flight recording (JFR) of a JVM: waits with stacks, allocations, pinned virtual threads. It stops by itself."`
	NoJFR    bool          `name:"no-jfr" help:"Make no flight recording, not even where thread dumps cannot show what requests wait for."`
	Kernel   bool          `help:"Also record kernel stacks of the process's threads: where they run and what they wait for (as root). For a process whose runtime does not report its threads, this is the default."`
	NoKernel bool          `name:"no-kernel" json:"Without" help:"Record no kernel stacks."` // the JSON is that of older versions, which an [errand] may reach
	Heap     bool          `help:"Also record which objects of a .NET process die in gen 2, and at the end the heap by type. GC pauses are longer during that time, and it ends with a blocking gen 2 collection."`
	Expect   float64       `name:"expect-rate" placeholder:"10" help:"The agreed request rate per second; a higher rate is reported as a cause."`
	OTLP     string        `name:"otlp" placeholder:"HOST:PORT" help:"Also receive spans from services, as an OpenTelemetry collector does (HTTP and gRPC), such as 127.0.0.1:4318: they become requests."`
	Capture  string        `placeholder:"FILE" help:"The capture to write (default: NAME-HHMM.unstall in this directory)."`

	dir string // directory of the capture unless Capture is set; "" this directory
}

func (r *recording) checkFlags() error {
	if r.JFR && r.Passive {
		return errors.New("--jfr switches the flight recorder on, --passive switches nothing on: use only one")
	}
	if r.JFR && r.NoJFR {
		return errors.New("--jfr and --no-jfr: use only one")
	}
	if r.Kernel && r.Passive {
		return errors.New("--kernel switches sampling on in the kernel, --passive switches nothing on: use only one")
	}
	if r.Kernel && r.NoKernel {
		return errors.New("--kernel and --no-kernel: use only one")
	}
	if r.Heap && r.Passive {
		return errors.New("--heap makes the process collect its heap, --passive switches nothing on: use only one")
	}
	if r.For < time.Second {
		return fmt.Errorf("--for %s: record at least 1s", r.For)
	}
	if !(r.Expect >= 0 && r.Expect < 1e9) {
		return fmt.Errorf("--expect-rate %g: give requests per second, such as 10", r.Expect)
	}
	return nil
}

// recordTargets records targets into a capture and returns its path; "" if there is none, after printing why. Ctrl-C ends the
// recording, a second Ctrl-C the program.
func (s *session) recordTargets(r recording, targets []discover.Target, sends *sending, first func(path string)) string {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	context.AfterFunc(ctx, stop)
	return s.recordUntil(ctx, r, targets, sends, first)
}

// recordUntil records until its context ends.
func (s *session) recordUntil(ctx context.Context, r recording, targets []discover.Target, sends *sending, first func(path string)) string {
	beNice()
	probes, others := r.chooseProbes()
	found := record.FindOther(ctx, probes, others, targets)
	if sends == nil && !s.checkRecordable(found) {
		return ""
	}
	if sends != nil {
		s.dropOtherServices(&found)
		if err := sends.checkReachable(ctx); err != nil { // a recording without the requested load would be of another question
			s.reportError(unreadable, err)
			return ""
		}
	}
	if r.OTLP != "" {
		spans, err := s.receiveSpans(r.OTLP)
		if err != nil {
			s.reportError(unreadable, err)
			return ""
		}
		defer spans.Close()
		found.Accesses = append(found.Accesses, spans.Access())
	}
	s.announceRecording(found, r)
	s.found = found
	opt := record.Options{For: r.For, Passive: r.Passive, Flight: r.JFR, NoFlight: r.NoJFR, Heap: r.Heap, Path: r.Capture, Dir: r.dir, ExpectedRate: r.Expect, Tool: programVersion(), Command: os.Args,
		Warn: func(text string) { fmt.Fprintln(s.err, "warning:", text) },
		Fail: func(err error) { s.reportError(unreadable, err) }, First: first}
	if sends != nil {
		opt.Beside = sends.runLoad(s, targets)
	}
	path, err := found.Record(ctx, opt)
	if err != nil && (path == "" || ctx.Err() == nil) {
		s.reportError(unreadable, err)
	} else if sends != nil && ctx.Err() == nil {
		if err := unansweredError(sends.result); err != nil {
			s.reportError(unreadable, err)
		}
	}
	return path
}

// receiveSpans listens for OpenTelemetry spans at an address.
func (s *session) receiveSpans(address string) (*otlp.Receiver, error) {
	r, err := otlp.Listen(address, spans.Reads)
	if err == nil {
		s.printNote("receiving spans at http://%s: start the service with OTEL_EXPORTER_OTLP_ENDPOINT=http://%[1]s, or let a collector send there", r.Address())
		if r.Beyond() {
			s.printNote("warning: any client that reaches this host can send spans there")
		}
	}
	return r, err
}

// chooseProbes returns the probes to use, and the kernel's probes to use for processes whose runtime the first ones know nothing
// about.
func (r *recording) chooseProbes() (probes, others []probe.Probe) {
	switch {
	case r.Kernel:
		return slices.Concat(all.Probes, all.Kernel, []probe.Probe{exchanged}), nil
	case r.NoKernel, r.Passive:
		return all.Probes, nil
	}
	return slices.Concat(all.Probes, []probe.Probe{clock, exchanged}), all.Kernel
}

// clock records which thread runs, for processes whose functions other recorded data can name.
var clock = probe.Probe{Name: all.Clock.Name, About: all.Clock.About, General: true, Find: func(ctx context.Context, t discover.Target) []probe.Access {
	if !platform.ByID(t.Runtime).Addresses {
		return nil
	}
	return all.Clock.Find(ctx, t)
}}

// exchanged records the requests and calls that the kernel sees, for processes that do not report their own requests.
var exchanged = probe.Probe{Name: all.Exchanges.Name, About: all.Exchanges.About, General: true, Find: func(ctx context.Context, t discover.Target) []probe.Access {
	if platform.ByID(t.Runtime).Tells {
		return nil
	}
	return all.Exchanges.Find(ctx, t)
}}

// checkRecordable returns false, after printing why, if no data of the targets can be recorded.
func (s *session) checkRecordable(f record.Finding) bool {
	alone := false
	for _, a := range f.Accesses {
		if a.Missing != nil && a.Alone {
			s.reportError(unreadable, a.Missing)
			alone = true
		}
	}
	if alone {
		return false
	}
	if slices.ContainsFunc(f.Accesses, func(a probe.Access) bool { return a.Missing == nil }) {
		return true
	}
	for _, a := range f.Accesses {
		s.reportError(unreadable, a.Missing)
	}
	if len(f.Accesses) == 0 {
		for _, t := range f.Targets {
			s.reportError(unreadable, fmt.Errorf("%s: nothing to record here: give the PID of a process on this host or the URL of its net/http/pprof", targetAsTyped(t)))
		}
	}
	return false
}

// dropOtherServices leaves out addresses that answer as other services than those that can be asked for data, such as the one that takes the
// load, if the process that listens there can be recorded.
func (s *session) dropOtherServices(f *record.Finding) {
	if !slices.ContainsFunc(f.Accesses, func(a probe.Access) bool { return a.Missing == nil }) {
		return
	}
	f.Accesses = slices.DeleteFunc(f.Accesses, func(a probe.Access) bool {
		if a.Missing == nil || !a.Alone || len(a.Lacks) == 0 {
			return false
		}
		s.printNote("note: %s: %s: the process that listens there is recorded", a.Where, a.Lacks[0].Why)
		return true
	})
}

// announceRecording prints what will be recorded of each target and what that switches on.
func (s *session) announceRecording(f record.Finding, r recording) {
	for _, t := range f.Targets {
		s.printNote("%s", describeTarget(t))
		if t.Note != "" {
			s.printNote("  %s", t.Note)
		}
	}
	on := f.SwitchesOn()
	if r.JFR && slices.ContainsFunc(f.Targets, func(t discover.Target) bool { return platform.ByID(t.Runtime).Records }) {
		on = append(on, "flight recording")
	} else if !r.NoJFR && slices.ContainsFunc(f.Targets, func(t discover.Target) bool { return platform.ByID(t.Runtime).Records }) {
		on = append(on, "flight recording where thread dumps cannot show what is waited for (--no-jfr: never)")
	}
	if r.Heap && slices.ContainsFunc(f.Targets, func(t discover.Target) bool { return platform.ByID(t.Runtime).Walks }) {
		on = append(on, "objects that survive each collection, which lengthens its pause (3 s at a time)", "a blocking gen 2 collection at the end, which walks the heap")
	}
	switch {
	case len(on) == 0 || r.Passive:
		s.printNote("recording for %s; nothing is switched on (Ctrl-C ends it early)", r.For)
	default:
		s.printNote("switching on for %s: %s   (--passive switches nothing on; Ctrl-C ends it early)", r.For, strings.Join(on, ", "))
	}
}

func describeTarget(t discover.Target) string {
	parts := []string{t.Name}
	if t.Name == "" {
		parts[0] = targetAsTyped(t)
	}
	if t.PID != 0 {
		parts = append(parts, fmt.Sprintf("pid %d", t.PID))
	}
	switch {
	case t.Version != "" && !strings.HasPrefix(t.Version, t.Runtime):
		parts = append(parts, t.Runtime+" "+t.Version)
	case t.Version != "":
		parts = append(parts, t.Version)
	case t.Runtime != "":
		parts = append(parts, t.Runtime)
	}
	if t.In.ID != "" {
		parts = append(parts, "in "+cmp.Or(t.In.Engine, "container")+" "+t.In.Title())
	}
	if t.PID != 0 && t.UID != os.Geteuid() {
		parts = append(parts, "of user "+t.User)
	}
	return strings.TrimSpace(parts[0] + "  " + strings.Join(parts[1:], " · "))
}

// targetAsTyped returns a target as the user typed it, without passwords.
func targetAsTyped(t discover.Target) string {
	if t.URL != nil {
		return t.URL.Redacted()
	}
	return t.Arg
}

// printNote prints a message that is not part of the result to standard error.
func (s *session) printNote(format string, args ...any) { fmt.Fprintf(s.err, format+"\n", args...) }

// printSaved prints where the capture is and which commands use it. verify is the command that compares it after a change, or "".
func (s *session) printSaved(path, verify string) {
	if verify != "" {
		secret := ""
		if strings.Contains(verify, redact.Mark) {
			secret = " (write the secret where it says " + redact.Mark + ")"
		}
		s.printNote("saved %s; to compare after a change%s:\n  %s", path, secret, verify)
		return
	}
	s.printNote("saved %s; to see this again:\n  unstall %s", path, path)
}

// splitInputs resolves the arguments of a command into live targets and files, and reports those
// that are neither.
func (s *session) splitInputs(args []string) (live []discover.Target, files []string) {
	if err := mistypedCommand(args); err != nil {
		s.reportError(wrongUse, err)
		return nil, nil
	}
	live, files, errs := discover.Split(context.Background(), args, platform.Recognisers())
	s.reportUnresolved(errs)
	return live, files
}

// mistypedCommand returns an error if the first argument is close to the name of a command and is
// neither a process nor a file here; nil otherwise.
func mistypedCommand(args []string) error {
	if len(args) == 0 || discover.LikeFile(args[0]) || strings.ContainsAny(args[0], ":/0123456789") {
		return nil
	}
	meant := suggest.Nearest(args[0], commandNames())
	if meant == "" || meant == args[0] {
		return nil
	}
	if _, err := discover.Resolve(context.Background(), args[0], platform.Recognisers()); err == nil {
		return nil
	}
	return fmt.Errorf("do you mean unstall %s? There is no command, process or file %s; see unstall help", meant, args[0])
}

// commandNames are the names of the commands that users see.
func commandNames() (names []string) {
	for _, c := range newParser().Model.Children {
		if !c.Hidden {
			names = append(names, c.Name)
		}
	}
	return names
}

// unknownCommand returns the error of asking for help on a word that is no command, because help is not about a process or a
// file. It returns nil if the word may be a command.
func unknownCommand(args []string) error {
	if len(args) < 2 || strings.HasPrefix(args[0], "-") || !slices.ContainsFunc(args[1:], func(a string) bool { return a == "--help" || a == "-h" }) {
		return nil
	}
	if strings.ContainsAny(args[0], ":/.0123456789") || slices.ContainsFunc(newParser().Model.Children, func(c *kong.Node) bool { return c.Name == args[0] }) {
		return nil
	}
	if _, err := os.Stat(args[0]); err == nil {
		return nil
	}
	if _, err := discover.Resolve(context.Background(), args[0], platform.Recognisers()); err == nil {
		return nil
	}
	if meant := suggest.Nearest(args[0], commandNames()); meant != "" {
		return fmt.Errorf("unknown command %s: do you mean unstall %s? See unstall help", args[0], meant)
	}
	return fmt.Errorf("unknown command %s; see unstall help", args[0])
}

// reportUnresolved prints why names could not be resolved and sets the exit code.
func (s *session) reportUnresolved(errs []error) {
	for _, err := range errs {
		code := unreadable
		if errors.Is(err, discover.ErrUse) {
			code = wrongUse
		}
		s.reportError(code, err)
	}
}
