package hotspot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/unstall/unstall/capture"
	"github.com/unstall/unstall/probe"
	"github.com/unstall/unstall/probe/hotspot/attach"
)

// flight is a flight recording.
type flight struct {
	r    *recording
	name string
	file string // as the JVM knows it
}

// takeOff starts a flight recording that ends by itself soon after this one is to;
// nil if this JVM has none.
// https://docs.oracle.com/en/java/javase/21/docs/specs/man/jcmd.html
func (r *recording) takeOff(ctx context.Context) (*flight, error) {
	f := &flight{r: r, file: ownFile("jfr", r.vm, "jfr")}
	f.name = strings.TrimPrefix(strings.TrimSuffix(filepath.Base(f.file), ".jfr"), ".")
	left := max(time.Until(r.end), time.Second) + 2*undoing
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoing) // it takes seconds, and is on if that is not waited for
	defer cancel()
	said, err := r.vm.Text(ctx, fmt.Sprintf("JFR.start name=%s filename=%s duration=%ds settings=default", f.name, f.file, int(left.Seconds())), 4<<10)
	if errors.Is(err, attach.ErrRefused) || err == nil && !strings.Contains(said, "Started recording") {
		why := short(said)
		if err != nil {
			why = lack(err).Why
		}
		r.sink.Lack(probe.Lack{What: "flight recording", Why: why, Do: "use JDK 11 or later, or JDK 8u262 or later"})
		return nil, nil
	}
	return f, err
}

// land ends the recording, stores it and removes its file.
func (f *flight) land(ctx context.Context) {
	defer remove(f.r.vm, f.file)
	_, err := f.r.vm.Text(ctx, "JFR.stop name="+f.name, 4<<10)
	if err != nil && !errors.Is(err, attach.ErrRefused) {
		f.r.warn("the flight recording could not be stopped (%s): it ends by itself", lack(err).Why)
	}
	in, err := openOwn(f.r.vm, f.file)
	if err != nil {
		f.r.warn("the flight recording could not be read: %v", err)
		return
	}
	defer in.Close()
	w, err := f.r.sink.Create(capture.Meta{Name: "flight-0001.jfr", Probe: name, Origin: "JFR.start", About: f.r.about})
	if err == nil {
		_, err = io.Copy(w, in)
		err = errors.Join(err, w.Close())
	}
	if err != nil {
		f.r.warn("flight-0001.jfr: %v", err)
	}
}
