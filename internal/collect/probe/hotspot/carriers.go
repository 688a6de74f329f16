package hotspot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/collect/probe/hotspot/attach"
)

// tellsCarriers is the first JDK that reports how many virtual threads wait for a carrier (Thread.vthread_scheduler). The command
// reads a few counters of the pool, and stops no thread.
// https://bugs.openjdk.org/browse/JDK-8337199
const tellsCarriers = 24

// carriers is the log of the carrier pool's counters, as internal/format/vthreads reads it.
type carriers struct {
	to      *lazy
	refused bool
}

// askCarriers asks once for the counters of the carrier pool, if this JVM has them.
func (r *recording) askCarriers(ctx context.Context, c *carriers) error {
	if c.refused || r.release < tellsCarriers {
		return nil
	}
	at := time.Now()
	var said bytes.Buffer
	err := r.vm.Ask(ctx, "Thread.vthread_scheduler", &said)
	switch {
	case ctx.Err() != nil:
		return nil //nolint:nilerr // an answer that the end of the recording cut off
	case errors.Is(err, attach.ErrRefused):
		c.refused = true
		return nil
	case err != nil:
		return err
	}
	if c.to == nil {
		c.to = &lazy{r: r, meta: capture.Meta{Name: "carriers.txt", Probe: name, Origin: "Thread.vthread_scheduler", About: r.about, Lines: true}}
	}
	_, err = fmt.Fprintf(c.to, "== %d Thread.vthread_scheduler of %d ==\n%s\n", at.UnixNano(), r.pid, bytes.TrimSpace(said.Bytes()))
	return err
}

func (c *carriers) Close() error {
	if c.to == nil {
		return nil
	}
	return c.to.Close()
}
