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

	// demoLoad is the part of what the sick gateway serves at most that the demo asks for: so little that
	// requests wait for GC rather than for each other, also while others use the host.
	demoLoad = .4
	// leastRate gives each run of a comparison enough requests for a p99, requests/s; mostRate keeps
	// the memory that the advice asks for below a GiB or so.
	leastRate, mostRate = 150., 1230.

	sizingFor = 2 * time.Second
	recordFor = 12 * time.Second
	blocks    = 10 // 6 pairs decide if all agree; with 10, one run that others spoilt does not undo it
	blockFor  = 1500 * time.Millisecond

	busyHost  = .1 // share of the host's CPUs that others use from which it is said
	takenHost = .5 // and from which a diagnosis that names only the host is right
	hostLook  = 300 * time.Millisecond
)

// hostCauses are those that other programs' use of the CPUs explains; they may stand before the gateway's own.
var hostCauses = []string{"linux.noisy-neighbour", "linux.cpu-saturation"}

// demo is one that runs.
type demo struct {
	*session
	*demoCommand
	begin time.Time
	rate  float64 // requests/s

	ours float64 // CPU seconds of what the demo started
	busy float64 // CPU seconds of the host before it
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
		d.say("A Go gateway whose heap is too small: find out why it is slow, apply what unstall advises, and see whether that helped. About a minute.")
		time.Sleep(hostLook)
		if others := d.others(); others >= busyHost {
			d.say("\nOther programs use %s of this host's CPUs: figures will be less clear. As root, the demo runs at a higher priority.", units.Percent(others))
			if code, ok := runPreferred(s); ok {
				s.code = code
				return nil
			}
		}
	}
	switch err := d.run(); {
	case s.Err() != nil:
		s.fail(notRun, errors.New("demo: interrupted: its services have ended"))
	case err != nil:
		s.fail(notRun, fmt.Errorf("demo: %w", err))
	}
	return nil
}

func (d *demo) run() error {
	d.step("Starting the gateway and asking what it can serve (5 s)")
	return d.serve("sick", nil, func(stand *lab.Stand, sick *lab.Service) error {
		most, err := stand.Drive(d, sick, lab.Demand{For: sizingFor})
		if err != nil {
			return err
		}
		d.rate = min(max(leastRate, math.Round(demoLoad*most.Achieved/10)*10), mostRate)
		diagnosis, err := d.diagnose(sick)
		if err == nil && hostOnly(diagnosis) { // the moment was a bad one
			d.answer("%s", sentence.Brief(diagnosis))
			d.say("Other programs use the CPUs that the gateway waits for: once more.")
			diagnosis, err = d.diagnose(sick)
		}
		if err != nil {
			return err
		}
		verdict := d.found(diagnosis, sick)
		if verdict == nil {
			return nil // said
		}
		setting := settingOf(verdict)
		if setting == "" {
			d.miss("%s advised no setting.", demoCause)
			return nil
		}
		d.step("Starting it a second time with that setting (5 s)")
		d.show("%s gateway", setting)
		return d.serve("advised", strings.Fields(setting), func(_ *lab.Stand, advised *lab.Service) error {
			return d.compare(diagnosis, sick, advised)
		})
	})
}

// gateway are its sessions and a little work for each request, beside half a megabyte of garbage. On two CPUs
// it is as sick on any host.
var gateway = lab.Variant{Program: "gateway", Args: []string{"-live=46", "-signature=60000"}, Env: []string{"GOMAXPROCS=2"}, Compared: true, Resident: 1300}

// serve runs the gateway with a setting while do lasts.
func (d *demo) serve(name string, setting []string, do func(*lab.Stand, *lab.Service) error) error {
	l := goballast.Lab
	v := gateway
	v.Name, v.Env = name, slices.Concat(v.Env, setting)
	l.Variants = []lab.Variant{v}
	l.Quick = lab.Sizes{Load: lab.Storm{Peak: max(leastRate, d.rate), Spike: 1, Warm: 6 * time.Second}}
	building := func(text string) {
		if strings.HasPrefix(text, "building") {
			d.say("%s (the first time only, up to a minute)", text)
		}
	}
	return lab.Serve(d, &l, lab.Options{Quick: true, Version: release, Progress: building}, []string{name}, func(s *lab.Stand) error {
		one := s.Service(name)
		err := do(s, one)
		d.ours += lab.CPUSeconds(one.PID)
		return err
	})
}

// diagnose records the gateway under load by the product and reads what it recorded.
func (d *demo) diagnose(one *lab.Service) (*diagnose.Diagnosis, error) {
	path := filepath.Join(d.Dir, "sick.unstall")
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) { // of the last time
		return nil, err
	}
	d.step("Recording it under %.0f requests/s (%.0f s)", d.rate, recordFor.Seconds())
	d.show("unstall PID --load URL -r %.0f --for %s", d.rate, recordFor)
	if _, err := d.unstall(append([]string{fmt.Sprint(one.PID), "--for", recordFor.String(), "--capture", path, "--load", one.URL}, d.load()...)...); err != nil {
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

// hostOnly says that a diagnosis found nothing but a host that others use.
func hostOnly(diagnosis *diagnose.Diagnosis) bool {
	supported, _, _ := sentence.Split(diagnosis)
	return len(supported) > 0 && gatewayFault(diagnosis) == nil
}

// found says what a diagnosis found and returns its verdict on the gateway, nil if that is not the known answer.
func (d *demo) found(diagnosis *diagnose.Diagnosis, one *lab.Service) *diagnose.Verdict {
	v, others := gatewayFault(diagnosis), d.others(one)
	if v == nil || v.Cause != demoCause {
		d.answer("%s", sentence.Brief(diagnosis))
		if hostOnly(diagnosis) && others >= takenHost {
			d.say("\nThat is right: other programs use %s of this host's CPUs, and the gateway waits for them. Run the demo again when the host is quieter.", units.Percent(others))
			return nil
		}
		d.miss("The known answer is %s.", demoCause)
		return nil
	}
	d.answer("%s: %s", v.Cause, v.Title)
	d.answer("%s", sentence.Cost(diagnosis, v))
	d.answer("To change: %s", settingOf(v))
	if predicted := sentence.Predictions(v, 0); len(predicted) > 0 {
		d.answer("Predicted: %s", strings.Join(predicted, " · "))
	}
	return v
}

// settingOf is the first setting a verdict advises, "" if none.
func settingOf(v *diagnose.Verdict) string {
	for _, f := range v.Fix {
		if f.Setting != "" {
			return f.Setting
		}
	}
	return ""
}

// compare has the product compare both gateways under the same load, writes the page and says how it went.
func (d *demo) compare(diagnosis *diagnose.Diagnosis, sick, advised *lab.Service) error {
	d.step("Comparing both under the same load, in turn (%.0f s)", (2 * (blocks + 1) * blockFor).Seconds())
	d.show("unstall compare SICK-URL ADVISED-URL -r %.0f --blocks %d --for %s", d.rate, blocks, blockFor)
	said, err := d.unstall(append([]string{"compare", sick.URL, advised.URL, "--blocks", fmt.Sprint(blocks), "--for", blockFor.String(), "--fail-on", "none", "--format", "json"}, d.load()...)...)
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
		d.answer("%-13s %s, %s: %s", m.Title, sentence.Both(&c.Metrics[i]), sentence.Changed(&c.Metrics[i]), m.Result)
		decided = decided || m.Result == compare.Improved
	}
	d.answer("%s", sentence.Compared(c))
	page := filepath.Join(d.Dir, "demo.html")
	d.write(page, func(w io.Writer) error { return html.Options{}.Compare(w, c, diagnosis, nil) })
	d.say("")
	switch others := d.others(sick, advised); {
	case decided:
	case others >= busyHost:
		d.say("The comparison did not decide: other programs used %s of this host's CPUs. Run the demo again when the host is quieter.", units.Percent(others))
	default:
		d.miss("The comparison did not show that the setting made requests faster.")
	}
	d.say("Done in %.0f s. Page: %s", time.Since(d.begin).Seconds(), page)
	d.say("All of the diagnosis:")
	d.show("unstall %s", filepath.Join(d.Dir, "sick.unstall"))
	return nil
}

// load are the flags of the load, the same for all.
func (d *demo) load() []string {
	return []string{"-r", fmt.Sprint(d.rate), "--poisson", "-H", goballast.Lab.Headers[0]}
}

// unstall runs the product and returns what it wrote.
func (d *demo) unstall(args ...string) ([]byte, error) {
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

// others is the share of the host's CPUs that other programs used during the demo.
func (d *demo) others(running ...*lab.Service) float64 {
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

// columns is how wide the lines of the demo are.
const columns = 80

func (d *demo) say(format string, args ...any) {
	fmt.Fprintln(d.out, ansi.Wordwrap(fmt.Sprintf(format, args...), columns, " "))
}

// step says what is done next and how long it takes.
func (d *demo) step(format string, args ...any) { d.say("\n"+format+" …", args...) }

// show writes a command on its line.
func (d *demo) show(format string, args ...any) { fmt.Fprintf(d.out, "  $ "+format+"\n", args...) }

// answer says something of what unstall answered, set in.
func (d *demo) answer(format string, args ...any) {
	text := ansi.Wordwrap(fmt.Sprintf(format, args...), columns-4, " ")
	fmt.Fprintln(d.out, "    "+strings.ReplaceAll(text, "\n", "\n    "))
}

// miss says what did not come out and decides how the command ends.
func (d *demo) miss(format string, args ...any) {
	d.say("Not as expected: "+format, args...)
	d.code = max(d.code, missed)
}
