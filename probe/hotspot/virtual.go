package hotspot

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"time"

	"github.com/unstall/unstall/capture"
	"github.com/unstall/unstall/probe/hotspot/attach"
)

// virtuals is when virtual threads were looked at.
type virtuals struct {
	took    []time.Duration
	next    time.Time
	refused bool
}

// virtualShare is like costShare, of a dump that stops one virtual thread at a time and is
// written by one thread: so it is time of a CPU, and no stop.
const virtualShare = 50

// virtuals dumps all threads, the virtual ones among them, if it is time: into a file in the
// JVM's own /tmp, as only that way they are dumped (JDK 21 on).
// https://docs.oracle.com/en/java/javase/21/docs/specs/man/jcmd.html (Thread.dump_to_file)
func (r *recording) virtuals(ctx context.Context, v *virtuals) error {
	if v.refused || time.Now().Before(v.next) {
		return nil
	}
	file, began := ownFile("threads", r.vm, "json"), time.Now()
	defer remove(r.vm, file)
	said, err := r.vm.Text(ctx, "Thread.dump_to_file -format=json "+file, 4<<10)
	took := time.Since(began)
	switch {
	case ctx.Err() != nil:
		return nil
	case errors.Is(err, attach.ErrRefused): // JDK 19 and 20 have it only as a preview
		v.refused = true
		return nil
	case err != nil:
		return err
	}
	f, err := openOwn(r.vm, file)
	if err != nil {
		v.refused = true
		r.warn("virtual threads could not be dumped: %s", short(said))
		return nil
	}
	defer f.Close()
	if err := r.keep(f); err != nil {
		return err
	}
	if v.took = append(v.took[max(0, len(v.took)-2):], took); len(v.took) == 1 {
		v.took[0] = min(took, soonest/virtualShare) // the first time, the JVM loads what writes it
		took = 0
	}
	cost := slices.Min(v.took)
	v.next = time.Now().Add(virtualShare * cost)
	if apart := virtualShare * cost; apart >= seldom {
		r.warn("a dump of the virtual threads takes %v, so one is taken only about every %v", took.Round(10*time.Millisecond), apart.Round(time.Second))
	}
	return nil
}

// keep copies a dump, which many threads make long.
func (r *recording) keep(f *os.File) error {
	w := &lazy{r: r, meta: capture.Meta{Name: r.name("virtual", "json"), Series: "virtual", Probe: name, Origin: "Thread.dump_to_file", About: r.about, Lines: true}}
	_, err := io.Copy(w, f)
	if w.to == nil {
		r.unname("virtual")
	}
	return errors.Join(err, w.Close())
}
