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

// flight is a flight recording.
type flight struct {
	r     *recording
	name  string
	file  string // as the JVM knows it
	left  *probe.SwitchedOn
	once  sync.Once
	began time.Time
}

// withheld are the events that tell what processes were started with: arguments,
// environments and properties hold passwords, those of other processes, too. What tells
// a JVM's own is recorded apart, without secrets. A JVM whose own recordings have
// them on writes them into this one as well, where they are overwritten
// (internal/base/redact/recorded).
var withheld = []string{"jdk.InitialEnvironmentVariable", "jdk.InitialSystemProperty", "jdk.InitialSecurityProperty", "jdk.SecurityPropertyModification",
	"jdk.SystemProcess", "jdk.ProcessStart", "jdk.JVMInformation"}

// closer are events about waits, and from how long on these are told: half as long as default.jfc says, and of pinned virtual
// threads, which wait for a dependency while they keep all others from running, nearly all.
var closer = map[string]string{"jdk.JavaMonitorEnter": "10 ms", "jdk.ThreadPark": "10 ms", "jdk.SocketRead": "10 ms", "jdk.VirtualThreadPinned": "1 ms"}

// lean are the events of a flight recording that fills in what thread dumps leave out: waits, from so long on as [closer]
// says or else leanThreshold, samples of what runs, and what tells how to read these. The defaults of a JVM have some
// hundred events more.
var lean = []string{"jdk.JavaMonitorEnter", "jdk.JavaMonitorWait", "jdk.ThreadPark", "jdk.ThreadSleep", "jdk.VirtualThreadPinned",
	"jdk.SocketRead", "jdk.SocketWrite", "jdk.SocketConnect", "jdk.FileRead", "jdk.FileWrite", "jdk.FileForce",
	"jdk.ExecutionSample", "jdk.NativeMethodSample", "jdk.ActiveSetting", "jdk.CPUInformation", "jdk.ContainerConfiguration", "jdk.DataLoss"}

const (
	leanThreshold = "10 ms"
	leanSize      = "64m" // of its file; the JVM drops what is older
)

// sampled are events that come at a pace.
var sampled = map[string]string{"jdk.ExecutionSample": "20 ms", "jdk.NativeMethodSample": "20 ms"}

// leanSettings are those of such a recording alone.
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

// closerSettings switch the withheld events off and look closer at waits.
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

// writeSettings writes settings of events to a file for the JVM; of several settings of one event
// the last counts. JDK 11 takes them from a file only, and passes over events and settings that it
// does not have.
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

// takeOff starts a flight recording that ends by itself soon after this one is to: what the JVM records by default and
// closer waits, or only what fills in thread dumps. Nil if this JVM has none.
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
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoing) // it takes seconds, and is on if that is not waited for
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
