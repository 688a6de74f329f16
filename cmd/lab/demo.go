package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/operate/compare"
	"github.com/unstall/unstall/internal/present/html"
	"github.com/unstall/unstall/internal/present/sentence"
	"github.com/unstall/unstall/lab"
	goballast "github.com/unstall/unstall/lab/go-ballast"
)

type demoCommand struct {
	Dir     string `default:"unstall-demo" placeholder:"DIR" help:"Where the capture and the page are written (default: unstall-demo)."`
	Unstall string `placeholder:"FILE" help:"The unstall to run (default: the one beside this program)."`

	Preferred bool `hidden:"" help:"It was started at a higher priority."`
}

const (
	demoCause = "go.gc-rate"

	// demoLoad is the share of the sick gateway's capacity that the demo uses. It is so small that requests wait
	// for GC rather than for each other, also while other programs use the host.
	demoLoad = .4
	// leastRate gives each run of a comparison enough requests for a p99, requests/s. mostRate keeps the memory
	// that the advice asks for below about 1 GiB.
	leastRate, mostRate = 150., 1230.

	sizingFor = 2 * time.Second
	recordFor = 12 * time.Second
	blocks    = 10 // 6 pairs decide if all agree; with 10, one run disturbed by other programs changes no result
	blockFor  = 1500 * time.Millisecond

	busyHost  = .1 // share of the host's CPUs used by other programs from which the demo reports it
	takenHost = .5 // share from which a diagnosis that names only the host is right
	hostLook  = 300 * time.Millisecond
)

// hostCauses are causes that other programs' CPU use explains. They may rank before the gateway's own.
var hostCauses = []string{"linux.noisy-neighbour", "linux.cpu-saturation"}

// demo is a running demo.
type demo struct {
	*session
	*demoCommand
	begin time.Time
	rate  float64 // requests/s

	ours float64 // CPU seconds of the processes that the demo started
	busy float64 // CPU seconds of the host before the demo
}

func (c *demoCommand) Run(s *session) error {
	if c.Unstall == "" {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		if self, err = filepath.EvalSymlinks(self); err != nil {
			return err
		}
		c.Unstall = filepath.Join(filepath.Dir(self), "unstall")
	}
	if _, err := exec.LookPath(c.Unstall); err != nil {
		return fmt.Errorf("%s: the demo runs unstall itself: make build, or name it with --unstall", c.Unstall)
	}
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return err
	}
	d := &demo{session: s, demoCommand: c, begin: time.Now(), busy: hostBusy()}
	if !c.Preferred {
		d.printWrapped("A Go gateway whose heap is too small: find out why it is slow, apply what unstall advises, and see whether that helped. About a minute.")
		time.Sleep(hostLook)
		if others := d.othersCPUShare(); others >= busyHost {
			d.printWrapped("\nOther programs use %s of this host's CPUs: figures will be less clear. As root, the demo runs at a higher priority.", units.Percent(others))
			if code, ok := runPreferred(s); ok {
				s.code = code
				return nil
			}
		}
	}
	switch err := d.run(); {
	case s.Err() != nil:
		s.reportError(notRun, errors.New("demo: interrupted: its services have ended"))
	case err != nil:
		s.reportError(notRun, fmt.Errorf("demo: %w", err))
	}
	return nil
}

func (d *demo) run() error {
	d.printStep("Starting the gateway and asking what it can serve (5 s)")
	return d.serveGateway("sick", nil, func(stand *lab.Stand, sick *lab.Service) error {
		most, err := stand.Drive(d, sick, lab.Demand{For: sizingFor})
		if err != nil {
			return err
		}
		d.rate = min(max(leastRate, math.Round(demoLoad*most.Achieved/10)*10), mostRate)
		diagnosis, err := d.diagnoseGateway(sick)
		if err == nil && hostOnly(diagnosis) { // another program was busy at that moment
			d.printAnswer("%s", sentence.Brief(diagnosis))
			d.printWrapped("Other programs use the CPUs that the gateway waits for: once more.")
			diagnosis, err = d.diagnoseGateway(sick)
		}
		if err != nil {
			return err
		}
		verdict := d.reportVerdict(diagnosis, sick)
		if verdict == nil {
			return nil // already reported
		}
		setting := settingOf(verdict)
		if setting == "" {
			d.reportMiss("%s advised no setting.", demoCause)
			return nil
		}
		d.printStep("Starting it a second time with that setting (5 s)")
		d.printCommand("%s gateway", setting)
		return d.serveGateway("advised", strings.Fields(setting), func(_ *lab.Stand, advised *lab.Service) error {
			return d.compareGateways(diagnosis, sick, advised)
		})
	})
}

// gateway is the load of the gateway's code: sessions and a little work for each request, beside half a megabyte of garbage.
// With GOMAXPROCS=2 it is equally sick on any host.
var gateway = lab.Variant{Program: "gateway", Args: []string{"-live=46", "-signature=60000"}, Env: []string{"GOMAXPROCS=2"}, Compared: true, Resident: 1300}

// serveGateway runs the gateway with a setting while do runs.
func (d *demo) serveGateway(name string, setting []string, do func(*lab.Stand, *lab.Service) error) error {
	l := goballast.Lab
	v := gateway
	v.Name, v.Env = name, slices.Concat(v.Env, setting)
	l.Variants = []lab.Variant{v}
	l.Quick = lab.Sizes{Load: lab.Storm{Peak: max(leastRate, d.rate), Spike: 1, Warm: 6 * time.Second}}
	building := func(text string) {
		if strings.HasPrefix(text, "building") {
			d.printWrapped("%s (the first time only, up to a minute)", text)
		}
	}
	return lab.Serve(d, &l, lab.Options{Quick: true, Version: release, Progress: building}, []string{name}, func(s *lab.Stand) error {
		one := s.Service(name)
		err := do(s, one)
		d.ours += lab.CPUSeconds(one.PID)
		return err
	})
}

// diagnoseGateway records the gateway under load with the product and diagnoses the capture.
func (d *demo) diagnoseGateway(one *lab.Service) (*diagnose.Diagnosis, error) {
	path := filepath.Join(d.Dir, "sick.unstall")
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) { // from the last run
		return nil, err
	}
	d.printStep("Recording it under %.0f requests/s (%.0f s)", d.rate, recordFor.Seconds())
	d.printCommand("unstall PID --load URL -r %.0f --for %s", d.rate, recordFor)
	if _, err := d.runUnstall(append([]string{fmt.Sprint(one.PID), "--for", recordFor.String(), "--capture", path, "--load", one.URL}, d.loadFlags()...)...); err != nil {
		return nil, err
	}
	c, err := capture.Open(path)
	if err != nil {
		return nil, err
	}
	b := incident.NewBundle()
	incident.ReadCapture(d, c, b)
	return diagnose.Run(d, b, diagnose.Options{Version: release})
}

// gatewayFault returns the first cause found that is not the host's, nil if there is none.
func gatewayFault(diagnosis *diagnose.Diagnosis) *diagnose.Verdict {
	supported, _, _ := sentence.Split(diagnosis)
	for i, v := range supported {
		if !slices.Contains(hostCauses, v.Cause) {
			return &supported[i]
		}
	}
	return nil
}

// hostOnly says whether a diagnosis found nothing but a host used by other programs.
func hostOnly(diagnosis *diagnose.Diagnosis) bool {
	supported, _, _ := sentence.Split(diagnosis)
	return len(supported) > 0 && gatewayFault(diagnosis) == nil
}

// reportVerdict prints the result of a diagnosis. It returns the verdict on the gateway, nil if that is not the known
// answer.
func (d *demo) reportVerdict(diagnosis *diagnose.Diagnosis, one *lab.Service) *diagnose.Verdict {
	v, others := gatewayFault(diagnosis), d.othersCPUShare(one)
	if v == nil || v.Cause != demoCause {
		d.printAnswer("%s", sentence.Brief(diagnosis))
		if hostOnly(diagnosis) && others >= takenHost {
			d.printWrapped("\nThat is right: other programs use %s of this host's CPUs, and the gateway waits for them. Run the demo again when the host is quieter.", units.Percent(others))
			return nil
		}
		d.reportMiss("The known answer is %s.", demoCause)
		return nil
	}
	d.printAnswer("%s: %s", v.Cause, v.Title)
	d.printAnswer("%s", sentence.Cost(diagnosis, v))
	d.printAnswer("To change: %s", settingOf(v))
	if predicted := sentence.Predictions(v, 0); len(predicted) > 0 {
		d.printAnswer("Predicted: %s", strings.Join(predicted, " · "))
	}
	return v
}

// settingOf returns the first setting that a verdict advises, "" if none.
func settingOf(v *diagnose.Verdict) string {
	for _, f := range v.Fix {
		if f.Setting != "" {
			return f.Setting
		}
	}
	return ""
}

// compareGateways has the product compare both gateways under the same load, writes the page and
// prints the result.
func (d *demo) compareGateways(diagnosis *diagnose.Diagnosis, sick, advised *lab.Service) error {
	d.printStep("Comparing both under the same load, in turn (%.0f s)", (2 * (blocks + 1) * blockFor).Seconds())
	d.printCommand("unstall compare SICK-URL ADVISED-URL -r %.0f --blocks %d --for %s", d.rate, blocks, blockFor)
	said, err := d.runUnstall(append([]string{"compare", sick.URL, advised.URL, "--blocks", fmt.Sprint(blocks), "--for", blockFor.String(), "--fail-on", "none", "--format", "json"}, d.loadFlags()...)...)
	if err != nil {
		return err
	}
	c := new(compare.Comparison)
	if err := json.Unmarshal(said, c); err != nil {
		return err
	}
	c.Before, c.After = "sick", "advised"
	decided := false
	for i, m := range c.Metrics {
		if !slices.Contains([]string{"p50_ms", "p99_ms", "mean_ms"}, m.Name) {
			continue
		}
		d.printAnswer("%-13s %s, %s: %s", m.Title, sentence.Both(&c.Metrics[i]), sentence.Changed(&c.Metrics[i]), m.Result)
		decided = decided || m.Result == compare.Improved
	}
	d.printAnswer("%s", sentence.Compared(c))
	page := filepath.Join(d.Dir, "demo.html")
	d.writeOutput(page, func(w io.Writer) error { return html.Options{}.Compare(w, c, diagnosis, nil) })
	d.printWrapped("")
	switch others := d.othersCPUShare(sick, advised); {
	case decided:
	case others >= busyHost:
		d.printWrapped("The comparison did not decide: other programs used %s of this host's CPUs. Run the demo again when the host is quieter.", units.Percent(others))
	default:
		d.reportMiss("The comparison did not show that the setting made requests faster.")
	}
	d.printWrapped("Done in %.0f s. Page: %s", time.Since(d.begin).Seconds(), page)
	d.printWrapped("All of the diagnosis:")
	d.printCommand("unstall %s", filepath.Join(d.Dir, "sick.unstall"))
	return nil
}

// loadFlags returns the flags of the load, which are the same for every command.
func (d *demo) loadFlags() []string {
	return []string{"-r", fmt.Sprint(d.rate), "--poisson", "-H", goballast.Lab.Headers[0]}
}

// runUnstall runs the product and returns what it wrote to standard output.
func (d *demo) runUnstall(args ...string) ([]byte, error) {
	var said bytes.Buffer
	c := exec.CommandContext(d, d.Unstall, args...)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.Stderr = &said
	out, err := c.Output()
	d.ours += (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds()
	if err != nil {
		return nil, fmt.Errorf("unstall %s: %w: %s", args[0], err, bytes.TrimSpace(said.Bytes()))
	}
	return out, nil
}

// othersCPUShare returns the share of the host's CPUs that other programs used during the demo.
func (d *demo) othersCPUShare(running ...*lab.Service) float64 {
	ours := d.ours + lab.CPUSeconds(os.Getpid())
	for _, one := range running {
		ours += lab.CPUSeconds(one.PID)
	}
	return min(max(0, hostBusy()-d.busy-ours)/time.Since(d.begin).Seconds()/float64(runtime.NumCPU()), 1)
}

func hostBusy() float64 {
	busy, stolen := lab.HostBusySeconds()
	return busy + stolen
}

// columns is the width of the demo's lines.
const columns = 80

func (d *demo) printWrapped(format string, args ...any) {
	fmt.Fprintln(d.out, ansi.Wordwrap(fmt.Sprintf(format, args...), columns, " "))
}

// printStep prints the next step and how long it takes.
func (d *demo) printStep(format string, args ...any) { d.printWrapped("\n"+format+" …", args...) }

// printCommand prints a command on its own line.
func (d *demo) printCommand(format string, args ...any) {
	fmt.Fprintf(d.out, "  $ "+format+"\n", args...)
}

// printAnswer prints an answer of unstall, indented.
func (d *demo) printAnswer(format string, args ...any) {
	text := ansi.Wordwrap(fmt.Sprintf(format, args...), columns-4, " ")
	fmt.Fprintln(d.out, "    "+strings.ReplaceAll(text, "\n", "\n    "))
}

// reportMiss prints which result was unexpected, and sets the exit code.
func (d *demo) reportMiss(format string, args ...any) {
	d.printWrapped("Not as expected: "+format, args...)
	d.code = max(d.code, missed)
}
