package hotspot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/collect/probe/hotspot/attach"
)

// flight is a flight recording (JFR).
type flight struct {
	r     *recording
	name  string
	file  string // path as the JVM knows it
	left  *probe.SwitchedOn
	once  sync.Once
	began time.Time
}

// withheld are the events with the arguments, environments and properties of processes, which hold passwords, also those of other
// processes. The JVM's own properties are recorded separately, without secrets. A JVM whose own recordings have these events on also
// writes them into this one, where they are overwritten (internal/base/redact/recorded).
var withheld = []string{"jdk.InitialEnvironmentVariable", "jdk.InitialSystemProperty", "jdk.InitialSecurityProperty", "jdk.SecurityPropertyModification",
	"jdk.SystemProcess", "jdk.ProcessStart", "jdk.JVMInformation"}

// closer are events about waits, with the shortest wait that is recorded: half of that in default.jfc. For pinned virtual threads,
// which wait for a dependency while they keep all others from running, it is nearly all waits.
var closer = map[string]string{"jdk.JavaMonitorEnter": "10 ms", "jdk.ThreadPark": "10 ms", "jdk.SocketRead": "10 ms", "jdk.VirtualThreadPinned": "1 ms"}

// lean are the events of a flight recording that fills in what thread dumps leave out: waits, from [closer]'s or else leanThreshold's
// length on, samples of running threads, and the events needed to read these. A JVM's defaults have some hundred events more.
var lean = []string{"jdk.JavaMonitorEnter", "jdk.JavaMonitorWait", "jdk.ThreadPark", "jdk.ThreadSleep", "jdk.VirtualThreadPinned",
	"jdk.SocketRead", "jdk.SocketWrite", "jdk.SocketConnect", "jdk.FileRead", "jdk.FileWrite", "jdk.FileForce",
	"jdk.ExecutionSample", "jdk.NativeMethodSample", "jdk.ActiveSetting", "jdk.CPUInformation", "jdk.ContainerConfiguration", "jdk.DataLoss"}

const (
	leanThreshold = "10 ms"
	leanSize      = "64m" // size of its file; the JVM drops older data
)

// sampled are events that come at a fixed rate.
var sampled = map[string]string{"jdk.ExecutionSample": "20 ms", "jdk.NativeMethodSample": "20 ms"}

// leanSettings are the settings of a lean recording.
func leanSettings() string {
	var text strings.Builder
	for _, e := range lean {
		fmt.Fprintf(&text, `<event name="%s"><setting name="enabled">true</setting><setting name="stackTrace">true</setting>`, e)
		if period, ok := sampled[e]; ok {
			fmt.Fprintf(&text, `<setting name="period">%s</setting>`, period)
		} else {
			fmt.Fprintf(&text, `<setting name="threshold">%s</setting>`, cmp.Or(closer[e], leanThreshold))
		}
		text.WriteString(`</event>`)
	}
	return text.String()
}

// closerSettings switch the withheld events off and record shorter waits.
func closerSettings() string {
	var text strings.Builder
	for _, e := range withheld {
		fmt.Fprintf(&text, `<event name="%s"><setting name="enabled">false</setting></event>`, e)
	}
	for _, e := range slices.Sorted(maps.Keys(closer)) {
		fmt.Fprintf(&text, `<event name="%s"><setting name="threshold">%s</setting></event>`, e, closer[e])
	}
	return text.String()
}

// writeSettings writes settings of events to a file for the JVM. If an event has several settings, the last one counts. JDK 11 takes
// them only from a file, and ignores events and settings that it does not have.
func writeSettings(vm *attach.VM, file, events string) error {
	f, err := os.OpenFile(vm.Path(file), os.O_WRONLY|os.O_CREATE|os.O_EXCL|noFollow, 0o600)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, `<?xml version="1.0" encoding="UTF-8"?><configuration version="2.0" label="unstall" provider="unstall">`+events+"</configuration>")
	return errors.Join(err, f.Chmod(0o644), f.Close()) // the JVM may be another user's
}

func flightName(file string) string {
	return strings.TrimPrefix(strings.TrimSuffix(filepath.Base(file), ".jfr"), ".")
}

func isRefused(err error) bool { return errors.Is(err, attach.ErrRefused) }

// takeOff starts a flight recording that ends by itself soon after this recording should. It has the JVM's default events and closer
// waits, or only what fills in thread dumps. It returns nil if this JVM has no flight recorder.
// https://docs.oracle.com/en/java/javase/21/docs/specs/man/jcmd.html
func (r *recording) takeOff(ctx context.Context, fillsIn bool) (*flight, error) {
	f := &flight{r: r, file: ownFile("jfr", r.vm, "jfr"), began: time.Now()}
	f.name = flightName(f.file)
	from, own, events, more := "settings=default", ownFile("jfc", r.vm, "jfc"), closerSettings(), ""
	if fillsIn {
		from, events, more = "", leanSettings(), " maxsize="+leanSize
	}
	switch err := writeSettings(r.vm, own, events); {
	case err == nil:
		from = strings.TrimSpace(from + " settings=" + own)
		defer removeOwn(r.vm, own)
	case fillsIn:
		r.sink.Lack(probe.Lack{What: "flight recording", Why: "its settings could not be written: " + err.Error(), Do: "record with --jfr, which needs none"})
		return nil, nil
	}
	f.left = r.noteLeft(leftFlight, f.file)
	left := max(time.Until(r.end), time.Second) + 2*undoing
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoing) // the start takes seconds, and the recording is on even without waiting for it
	defer cancel()
	said, err := r.vm.Text(ctx, fmt.Sprintf("JFR.start name=%s filename=%s duration=%ds%s %s", f.name, f.file, int(left.Seconds()), more, from), 4<<10)
	if errors.Is(err, attach.ErrRefused) || err == nil && !strings.Contains(said, "Started recording") {
		f.left.Forget()
		why := firstLine(said)
		if err != nil {
			why = explainLack(err).Why
		}
		r.sink.Lack(probe.Lack{What: "flight recording", Why: why, Do: "use JDK 11 or later, or JDK 8u262 or later"})
		return nil, nil
	}
	return f, err
}

// stopOnce ends the flight recording, stores it and removes its file, once.
func (f *flight) stopOnce(ctx context.Context) { f.once.Do(func() { f.stopAndStore(ctx) }) }

func (f *flight) stopAndStore(ctx context.Context) {
	defer removeOwn(f.r.vm, f.file)
	_, err := f.r.vm.Text(ctx, "JFR.stop name="+f.name, 4<<10)
	if err != nil && !errors.Is(err, attach.ErrRefused) {
		f.r.warnOnce("the flight recording could not be stopped (%s): it ends by itself", explainLack(err).Why)
	} else {
		f.left.Forget()
	}
	in, err := openOwn(f.r.vm, f.file)
	if err != nil {
		f.r.warnOnce("the flight recording could not be read: %v", err)
		return
	}
	defer in.Close()
	w, err := f.r.sink.Create(capture.Meta{Name: "flight-0001.jfr", Probe: name, Origin: "JFR.start", About: f.r.about})
	if err == nil {
		_, err = io.Copy(w, in)
		err = errors.Join(err, w.Close())
	}
	if err != nil {
		f.r.warnOnce("flight-0001.jfr: %v", err)
	}
}
