package dotnet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/collect/probe/dotnet/ipc"
)

// grace is how long a session may take to end. The names of 100,000 methods come in a second or two.
const grace = 8 * time.Second

// quiet is the longest pause of a session with counters, which come each second from a thread of their own.
const quiet = 5 * time.Second

// beginning is fewer bytes than a session that settles writes about the smallest heap. It is more than it writes about other collections, or
// before the pause for marking the heap.
const beginning = 64 << 10

// piece is one session to be recorded.
type piece struct {
	series    string
	into      *artifact // nil: an artifact of its own
	also      *artifact // gets the same data if it was begun; may be nil
	providers []ipc.Provider
	named     bool          // the session writes all names of methods at its end
	watches   bool          // the session shows whether methods are generated
	limit     int           // bytes a second above which the session is ended early; 0: none
	most      int           // bytes after which the session is ended; 0: no bound
	lasts     time.Duration // time from when the session is on; 0: until the recording ends
	settles   time.Duration // the session is ended after this time with few bytes, once many have come; 0: not
	buffer    uint32        // MB; 0: bufferMB
	started   func()        // called when the session is on; may be nil
}

// samplesThreads says whether the session takes samples of the threads' stacks.
func (p *piece) samplesThreads() bool {
	return slices.ContainsFunc(p.providers, func(q ipc.Provider) bool { return q.Name == sampler })
}

// artifact holds consecutive sessions. internal/format/nettrace names frames in any of them by the names in any other.
type artifact struct{ to io.WriteCloser } // nil: not begun yet

// ensureOpen creates the artifact, unless it is open. It is named after the first session that has begun.
func (a *artifact) ensureOpen(r *recording, series string) (err error) {
	if a.to == nil {
		a.to, err = r.sink.Create(capture.Meta{Name: r.artifactName(series), Series: series, Probe: name, Origin: r.client.Path(), About: r.about})
	}
	return err
}

func (a *artifact) close(r *recording) {
	if a.to == nil {
		return
	}
	if err := a.to.Close(); err != nil {
		r.failWith(errors.Join(errStore, err))
	}
}

// outcome is the result of recording a piece.
type outcome struct {
	ok    bool          // the whole piece came, and another can be requested
	fast  bool          // the rate passed the limit
	names time.Duration // time from the request to end until the end
	told  int           // bytes that came in that time
	seen  int           // bytes that came before
}

// lag is how long the runtime waits between looks at its unwritten events.
const lag = 100 * time.Millisecond

// tellByte is the target's CPU time for each byte of names: 40 ms for 1.3 MB.
const tellByte = 30 * time.Nanosecond

// lookByte is the target's CPU time for each byte of looks at threads: 4 ms for 5 KB.
const lookByte = 800 * time.Nanosecond

// tickByte is the target's CPU time for each byte of allocation ticks: 10 µs for a tick of 100 bytes.
const tickByte = 100 * time.Nanosecond

// eventByte is the target's CPU time for each byte of events with stacks, awaits among them: 40 ms for 100 KB.
const eventByte = 400 * time.Nanosecond

// affordableBytes returns how many bytes of events cost the target less than 2 % of a CPU time.
func affordableBytes(used time.Duration) int { return int(used / 50 / eventByte) }

// requiredDistance returns the pause between pieces like this one with which they cost the target no more than 1 % of a core.
func (o outcome) requiredDistance() time.Duration {
	return 100 * max(0, o.names-lag, time.Duration(o.told)*tellByte)
}

// recordPiece records one session for as long as it lasts, or until the context ends, and then the data at its end. The time in which the
// runtime begins the session does not count; on a busy host that was 108 ms.
func (r *recording) recordPiece(ctx context.Context, p piece) outcome {
	if p.samplesThreads() { // the runtime ends one session at a time; this one would continue during that
		r.ending.Lock()
		defer r.ending.Unlock()
		if ctx.Err() != nil {
			return outcome{}
		}
	}
	config := ipc.Config{Providers: p.providers, BufferMB: max(p.buffer, bufferMB)}
	if p.named {
		config.Rundown = ipc.Rundown
	}
	s, err := r.client.Start(ctx, config)
	if err != nil {
		r.reportRefusal(ctx, p, err)
		return outcome{}
	}
	defer s.Close()
	if p.started != nil {
		p.started()
	}
	if p.into == nil {
		p.into = &artifact{}
		defer p.into.close(r)
	}
	if err := p.into.ensureOpen(r, p.series); err != nil {
		r.failWith(err)
		return outcome{}
	}
	to := io.Writer(p.into.to)
	if p.also != nil && p.also.to != nil {
		to = io.MultiWriter(to, p.also.to)
	}
	t := &stream{piece: p, from: s, to: &masker{to: to, secrets: r.secrets}, since: time.Now(), used: func() time.Duration { return processorTime(r.client.PID()) }}
	t.before = t.used()
	t.wanted, t.enough = context.WithCancel(ctx)
	if p.lasts > 0 {
		t.wanted, t.enough = context.WithTimeout(ctx, p.lasts)
	}
	var asked time.Time
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		<-t.wanted.Done()
		if !p.samplesThreads() {
			r.ending.Lock()
			defer r.ending.Unlock()
		}
		asked = time.Now()
		if !endSession(context.WithoutCancel(ctx), s) {
			r.gone.Store(true)
			r.warnIfHanging(context.WithoutCancel(ctx))
		}
	}()
	err = t.copyEvents(func() {
		r.warnOnce("no data from the runtime for %v: the process is stopped, or suspended at startup (DOTNET_DefaultDiagnosticPortSuspend, DOTNET_DiagnosticPorts)", quiet)
	})
	if p.watches {
		r.frees = r.frees || t.generated.freed
		r.generates = r.frees || t.generated.goesOn()
	}
	names := time.Now()
	whole := t.wanted.Err() != nil // the recorder ended it
	t.enough()
	if err != nil { // the end is answered only after all remaining data was read
		_ = s.SetReadDeadline(time.Time{})
		go func() { _, _ = io.Copy(io.Discard, s) }() // until s is closed
	}
	if e := t.to.Flush(); e != nil {
		err = errors.Join(errStore, e)
	}
	switch {
	case errors.Is(err, errStore):
		r.failWith(err)
	case !whole && r.client.Ended():
		r.warnOnce("the process ended; the data recorded until then is kept")
		r.gone.Store(true)
		r.stop()
	case err != nil:
		r.warnOnce("%s: the session was interrupted; the data recorded until then is kept", p.series)
	case !whole:
		r.warnOnce("%s: the runtime ended the session: another tool stopped it, or the process is about to end; the data recorded until then is kept", p.series)
	}
	<-stopped
	return outcome{ok: err == nil && whole, fast: t.fast, names: names.Sub(asked), told: t.names, seen: t.all}
}

// endSession asks for the end of a session. If there is no answer it closes the session, which also ends it, but without names.
func endSession(ctx context.Context, s *ipc.Session) (answered bool) {
	ctx, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	if s.Stop(ctx, grace) == nil {
		return true
	}
	_ = s.Close()
	return false
}

// warnIfHanging warns that the runtime's diagnostics hang, if a runtime that did not end a session does not answer anything else either.
func (r *recording) warnIfHanging(ctx context.Context) {
	if _, err := r.client.Info(ctx); errors.Is(err, ipc.ErrSilent) && !r.client.Ended() {
		r.warnOnce("the runtime did not end a session within %v and no longer answers: its diagnostics hang, a known bug before .NET 6 (dotnet/runtime#51579): restart the process when you can", grace)
	}
}

// errStore says that no more data can be stored.
var errStore = errors.New("cannot store the recorded data")

// stream copies a session into an artifact.
type stream struct {
	piece
	from *ipc.Session
	to   *masker

	wanted context.Context // ends when the session's end is requested
	enough func()          // requests the end

	used   func() time.Duration // CPU time of the target, 0 unknown
	before time.Duration        // … at since

	since       time.Time
	within, all int // bytes since then, and in total, without names
	names       int // bytes of names
	fast        bool
	generated   generated
}

// copyEvents stores the data up to the stream's end. It calls silent if no data comes for long before the end was requested.
func (t *stream) copyEvents(silent func()) error {
	buf := make([]byte, 64<<10)
	for {
		silence := quiet
		if t.settles > 0 {
			silence = min(quiet, t.settles)
		}
		_ = t.from.SetReadDeadline(time.Now().Add(silence))
		n, err := t.from.Read(buf)
		if n > 0 {
			if _, e := t.to.Write(buf[:n]); e != nil {
				return errors.Join(errStore, e)
			}
			t.countBytes(n)
			if t.watches {
				t.generated.scanStream(buf[:n])
			}
		}
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			if t.settles > 0 {
				t.countBytes(0)
			} else if t.wanted.Err() == nil {
				silent()
			}
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}

// countBytes counts the bytes that came. It ends the session when it has enough, or when they come too fast.
func (t *stream) countBytes(n int) {
	if t.wanted.Err() != nil {
		t.names += n
		return
	}
	t.within, t.all = t.within+n, t.all+n
	if t.limit > 0 && t.within > t.limit*int(fastFor/time.Second) && t.within > affordableBytes(t.used()-t.before) {
		t.fast = true
		t.enough()
	}
	if t.most > 0 && t.all > t.most {
		t.enough()
	}
	if t.settles > 0 {
		if time.Since(t.since) >= t.settles {
			if t.all > beginning && t.within < beginning {
				t.enough()
			}
			t.since, t.within = time.Now(), 0
		}
		return
	}
	if time.Since(t.since) > fastFor {
		t.since, t.within, t.before = time.Now(), 0, t.used()
	}
}

// processorTime returns a process's CPU time, 0 unknown: utime and stime of its stat file (proc_pid_stat(5)).
func processorTime(pid int) time.Duration {
	const tick = 10 * time.Millisecond // USER_HZ
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	f := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if err != nil || len(f) < 13 {
		return 0
	}
	user, _ := strconv.ParseInt(string(f[11]), 10, 64)
	system, _ := strconv.ParseInt(string(f[12]), 10, 64)
	return time.Duration(user+system) * tick
}

// reportRefusal says why a session could not be begun. If something was already recorded, that is only a warning.
func (r *recording) reportRefusal(ctx context.Context, p piece, err error) {
	r.mu.Lock()
	any := len(r.pieces) > 0
	r.mu.Unlock()
	switch {
	case isExpired(ctx):
	case !any:
		r.failWith(err)
	case errors.Is(err, ipc.ErrGone):
		r.warnOnce("the process ended; the data recorded until then is kept")
		r.gone.Store(true)
		r.stop()
	default:
		r.warnOnce("%s: %v", p.series, explainLack(err).Why)
	}
}

// isExpired says whether a context has ended or its deadline has passed. A call with the same deadline may time out before the context ends.
func isExpired(ctx context.Context) bool {
	d, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && !time.Now().Before(d)
}
