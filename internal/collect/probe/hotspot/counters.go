package hotspot

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/unstall/unstall/internal/base/hsperf"
	"github.com/unstall/unstall/internal/base/redact"
	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/collect/probe/hotspot/attach"
)

// each is the time between two readings of the counters. A reading costs the JVM nothing, and the recorder some 100 µs.
const each = time.Second

// copyCounters copies the JVM's counters until the context or the JVM ends.
func (r *recording) copyCounters(ctx context.Context) {
	f, err := discover.Hsperfdata(r.pid)
	if err != nil {
		if _, e := attach.Started(r.pid); e == nil {
			r.sink.Lack(probe.Lack{What: "counters of the JVM", Why: err.Error(), Do: "start the JVM with -XX:+UsePerfData (the default)"})
		}
		return
	}
	defer f.Close()
	w, err := r.sink.Create(capture.Meta{Name: "hsperfdata.txt", Probe: name, Origin: f.Name(), About: r.about, Continues: true})
	if err != nil {
		r.warnOnce("hsperfdata.txt: %v", err)
		return
	}
	c := &counterLog{to: bufio.NewWriter(w), last: map[string]string{}}
	start, _ := attach.Started(r.pid)
	for {
		err = c.writeSnapshot(f, r.pid, time.Now())
		if at, e := attach.Started(r.pid); err != nil || e != nil || at != start || !probe.Wait(ctx, each) {
			break
		}
	}
	if err == nil && ctx.Err() != nil {
		err = c.writeSnapshot(f, r.pid, time.Now())
	}
	if e := w.Close(); err == nil {
		err = e
	}
	if err != nil {
		r.warnOnce("%v", err)
	}
}

// redactCounter returns the text of a counter without secrets.
func redactCounter(x *hsperf.Counter) string {
	switch x.Name {
	case "sun.rt.javaCommand":
		return redact.Words(x.Text)
	case "java.rt.vmArgs", "java.rt.vmFlags":
		return afterProgram(x.Text)
	}
	return string(redact.Own([]byte(x.Text)))
}

// counterLog writes snapshots as internal/format/hsperf reads them: a line with the time and the PID, and a line name=value for
// each counter that changed.
type counterLog struct {
	to   *bufio.Writer
	last map[string]string
}

func (c *counterLog) writeSnapshot(f *os.File, pid int, at time.Time) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	d, err := hsperf.Parse(f)
	if errors.Is(err, hsperf.ErrNotReady) {
		return nil // the next second tries again
	}
	if err != nil && len(d.Counters) == 0 {
		return err
	}
	fmt.Fprintf(c.to, "== %d hsperfdata of %d ==\n", at.UnixNano(), pid)
	for i := range d.Counters {
		x := &d.Counters[i]
		value := strconv.FormatInt(x.Value, 10)
		if x.Unit == hsperf.String {
			value = strconv.Quote(redactCounter(x))
		}
		if c.last[x.Name] != value {
			c.last[x.Name] = value
			fmt.Fprintf(c.to, "%s=%s\n", x.Name, value)
		}
	}
	return c.to.Flush()
}
