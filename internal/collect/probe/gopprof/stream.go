package gopprof

import (
	"bytes"
	"context"
	"fmt"
	"net/http/httptrace"
	"os"
	"strconv"
	"sync"
	"time"
)

// One execution trace lasts as long as the recording while it costs no more of the process's CPU than traceShare. The process's CPU time does not
// show that cost, because it varies by more from second to second. The trace's size shows it (docs/decisions/recording.md has the measurements).
const (
	traceShare = .02                     // of the CPU that the process uses
	traceFixed = 3500 * time.Microsecond // CPU time per second, even without events
	traceByte  = 30 * time.Nanosecond    // CPU time per byte

	// traceLeast is how many bytes a second are always allowed. If the CPU use of the process is unknown, no more are allowed. With traceFixed
	// that is 1 % of a CPU.
	traceLeast = 200e3

	traceJudged = 5 * time.Second // time over which the rate is judged
	traceMark   = time.Second
)

// streamed is the version of Go from which on a trace can be read while it comes. Earlier traces take memory in proportion to their length.
const streamed = 22

// tail is how long the rest of an answer may take after its end was requested.
const tail = 2 * time.Second

// meter watches a trace as it comes and ends it if it costs too much.
type meter struct {
	pid   int   // of the process, 0 not on this host
	most  int64 // bytes
	ends  *ending
	head  []byte // its first bytes
	bytes int64
	marks []mark // the last ones are traceJudged apart
	why   string // why the trace was ended early, "" if it was not
}

// mark is the size of a trace, and the CPU time of its process, at a time.
type mark struct {
	at    time.Time
	bytes int64
	cpu   time.Duration // of the process, −1 unknown
}

// headerSize is the length of "go 1.26 trace\x00\x00\x00".
const headerSize = 16

// countBytes counts bytes of the trace that came. It ends the trace if it is too long or of an old version.
func (m *meter) countBytes(b []byte) {
	if n := headerSize - len(m.head); n > 0 {
		if m.head = append(m.head, b[:min(n, len(b))]...); len(m.head) == headerSize && oldTrace(m.head) {
			m.why = fmt.Sprintf("it is of a version before Go 1.%d", streamed)
			time.AfterFunc(firstTrace, m.ends.endAnswer)
		}
	}
	m.bytes += int64(len(b))
	if m.why != "" {
		return
	}
	if m.bytes >= m.most {
		m.endTrace(fmt.Sprintf("it holds %d MB", m.bytes>>20))
		return
	}
	now := time.Now()
	if n := len(m.marks); n == 0 || now.Sub(m.marks[n-1].at) >= traceMark {
		m.addMark(mark{now, m.bytes, cpuTime(m.pid)})
	}
}

// addMark adds a mark. It ends the trace if it grew too fast since the mark traceJudged before.
func (m *meter) addMark(x mark) {
	m.marks = append(m.marks, x)
	first := m.marks[0]
	took := x.at.Sub(first.at)
	if took < traceJudged {
		return
	}
	m.marks = m.marks[1:]
	if rate, most := float64(x.bytes-first.bytes)/took.Seconds(), allowedRate(first, x); rate > most {
		m.endTrace(fmt.Sprintf("it grew by %.2f MB/s, and %.2f cost %.0f %% of the process's CPU or 1 %% of one CPU", rate/1e6, most/1e6, 100*traceShare))
	}
}

func (m *meter) endTrace(why string) {
	m.why = why
	m.ends.endAnswer()
}

// allowedRate returns how many bytes of trace a second are allowed by the CPU time that the process used between two marks.
func allowedRate(a, b mark) float64 {
	if a.cpu < 0 || b.cpu < 0 {
		return traceLeast
	}
	cores := float64(b.cpu-a.cpu) / float64(b.at.Sub(a.at))
	return max(traceLeast, (traceShare*cores-traceFixed.Seconds())/traceByte.Seconds())
}

func oldTrace(head []byte) bool {
	version, _, _ := bytes.Cut(bytes.TrimPrefix(head, []byte("go 1.")), []byte(" "))
	minor, err := strconv.Atoi(string(version))
	return err != nil || minor < streamed
}

// cpuTime returns the CPU time of a process of this host, from fields 14 and 15 of its stat file (proc_pid_stat(5)), −1 if it is unknown.
func cpuTime(pid int) time.Duration {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if pid == 0 || err != nil || len(f) < 13 {
		return -1
	}
	user, err := strconv.ParseInt(string(f[11]), 10, 64)
	system, err2 := strconv.ParseInt(string(f[12]), 10, 64)
	if err != nil || err2 != nil {
		return -1
	}
	const tick = 10 * time.Millisecond // USER_HZ, on all of Go's architectures
	return time.Duration(user+system) * tick
}

// ending ends an answer early and still receives the rest of it. It closes the half of the connection that the request came by. The server takes
// that for a client that went away, and still writes. A trace that is ended this way is whole.
type ending struct {
	mu      sync.Mutex
	conn    interface{ CloseWrite() error }
	sent    bool // the request was
	over    bool
	cancel  context.CancelFunc
	release func()
}

// newEnding returns the context of a request that ends this way when ctx ends.
func newEnding(ctx context.Context) (context.Context, *ending) {
	e := &ending{}
	request, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, e.endAnswer)
	e.cancel = cancel
	e.release = func() { stop(); cancel() }
	return httptrace.WithClientTrace(request, &httptrace.ClientTrace{
		GotConn: func(i httptrace.GotConnInfo) {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.conn, _ = i.Conn.(interface{ CloseWrite() error })
		},
		WroteRequest: func(httptrace.WroteRequestInfo) {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.sent = true
		},
	}), e
}

func (e *ending) endAnswer() {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.over:
	case e.conn == nil || !e.sent || e.conn.CloseWrite() != nil:
		e.cancel()
	default:
		time.AfterFunc(tail, e.cancel)
	}
	e.over = true
}
