package linux

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/collect/probe"
)

// logs are the files of a process that are followed.
type logs struct {
	process *process
	about   evidence.Subject
	sink    probe.Sink
	files   []*log
	names   map[string]bool // of artifacts
	chosen  int
	refused int // number of logs beyond mostLogs
	broken  bool
}

// log is a followed file, from its end at the start on.
type log struct {
	writable
	f       *os.File
	offset  int64 // of the next byte to read
	out     io.WriteCloser
	name    string
	pending []byte // bytes read and not written: a line without its end
	got     int64  // number of bytes read
	skipped int64
	tries   int  // attempts to recognise it
	over    bool // it is no log, or there are enough logs
	lost    int  // polls since its descriptor led elsewhere
}

// Bounds of what is read.
const (
	mostBytes = 4 << 20 // of one log at a time: 16 MB/s
	mostLine  = 1 << 20 // longer lines are written in pieces
	mostTries = 20
)

// followAll reads the text appended to the logs until the context ends, and once more at the end.
func (l *logs) followAll(ctx context.Context) {
	began := time.Now()
	ticks := time.NewTicker(often)
	defer ticks.Stop()
	if len(l.files) == 0 {
		<-ctx.Done()
	}
	for ctx.Err() == nil {
		l.pollAll()
		select {
		case <-ctx.Done():
		case <-ticks.C:
		}
	}
	l.pollAll() // the last round may have been cut short by the end
	l.closeArtifacts(time.Since(began))
}

func (l *logs) pollAll() {
	for _, x := range l.files {
		l.pollLog(x)
	}
}

// pollLog reads the text appended to a log, and continues with its successor if the log was rotated.
func (l *logs) pollLog(x *log) {
	if x.over {
		return
	}
	l.readAppended(x)
	id, regular := identifyFile(fmt.Sprintf("%s/fd/%d", l.process.dir, x.fd))
	if regular && id == x.id {
		x.lost = 0
		return
	}
	if x.out == nil {
		x.over = true // the process closed it
		return
	}
	if x.lost++; x.lost&(x.lost-1) == 0 { // ever more rarely, because listing descriptors costs much
		l.switchToSuccessor(x)
	}
}

// switchToSuccessor looks for the file that the process now writes under the log's old path, and continues with it.
func (l *logs) switchToSuccessor(x *log) {
	files, err := listWritables(l.process)
	if err != nil {
		return
	}
	for _, w := range files {
		if w.id == x.id || !isSuccessor(w.path, x.path) {
			continue
		}
		f, err := os.Open(fmt.Sprintf("%s/fd/%d", l.process.dir, w.fd))
		if err != nil {
			return
		}
		l.readAppended(x) // the rest of the old file
		if len(x.pending) > 0 {
			x.pending = append(x.pending, '\n')
			l.writePending(x, len(x.pending))
		}
		_ = x.f.Close()
		x.f, x.fd, x.id, x.path, x.offset, x.lost = f, w.fd, w.id, w.path, 0, 0
		l.readAppended(x)
		return
	}
}

// isSuccessor says whether a log continues in another file: under the same path or, as with JVMs before JDK 9
// (-XX:+UseGCLogFileRotation), after gc.log.0.current in gc.log.1.current.
func isSuccessor(path, old string) bool {
	numbered := func(path string) string {
		rest, ok := strings.CutSuffix(path, ".current")
		base := strings.TrimRight(rest, "0123456789")
		if !ok || base == rest || !strings.HasSuffix(base, ".") {
			return ""
		}
		return base
	}
	base := numbered(old)
	return path == old || base != "" && base == numbered(path)
}

// readAppended reads what is new.
func (l *logs) readAppended(x *log) {
	var st syscall.Stat_t
	if err := syscall.Fstat(int(x.f.Fd()), &st); err != nil {
		return
	}
	if st.Size < x.offset { // the file was truncated; its unread text is lost
		x.offset, x.pending = 0, x.pending[:0]
	}
	if st.Size == x.offset {
		return
	}
	if x.out == nil {
		l.recogniseLog(x, st.Size)
		return
	}
	if more := st.Size - x.offset; more > mostBytes {
		x.skipped += more - mostBytes
		x.offset += more - mostBytes
		x.pending = append(x.pending[:0], skipMark)
	}
	for x.offset < st.Size {
		n := x.readPiece(st.Size)
		if n == 0 {
			break
		}
		if end := bytes.LastIndexByte(x.pending, '\n') + 1; end > 0 || len(x.pending) >= mostLine {
			if end == 0 {
				end = len(x.pending)
			}
			l.writePending(x, end)
		}
		if x.over {
			return
		}
	}
}

// skipMark replaces the skipped beginning of a line in pending.
const skipMark = 0

// readPiece reads a piece and adds it to pending. It leaves out zero bytes, which fill the hole if a file was truncated and its writer
// continues at the old offset.
func (x *log) readPiece(size int64) int {
	before := len(x.pending)
	if cap(x.pending)-before < chunk {
		x.pending = append(make([]byte, 0, max(256<<10, 2*cap(x.pending))), x.pending...)
	}
	room := x.pending[before:cap(x.pending)]
	if left := size - x.offset; int64(len(room)) > left {
		room = room[:left]
	}
	n, err := x.f.ReadAt(room, x.offset)
	if n == 0 || err != nil && err != io.EOF {
		return 0
	}
	x.offset += int64(n)
	if room = room[:n]; bytes.IndexByte(room, 0) >= 0 {
		kept := room[:0]
		for _, c := range room {
			if c != 0 {
				kept = append(kept, c)
			}
		}
		room = kept
	}
	x.pending = x.pending[:before+len(room)]
	return n
}

// writePending writes the first pending bytes and keeps the others.
func (l *logs) writePending(x *log, n int) {
	b := x.pending[:n]
	if len(b) > 0 && b[0] == skipMark {
		_, b, _ = bytes.Cut(b, []byte("\n"))
	}
	if len(b) > 0 {
		if _, err := x.out.Write(b); err != nil {
			if !l.broken {
				l.sink.Warnf("%s: %v", x.name, err)
			}
			l.broken, x.over = true, true
		}
		x.got += int64(len(b))
	}
	x.pending = x.pending[:copy(x.pending, x.pending[n:])]
}

// recogniseLog starts the artifact of a file if its text so far is a log that a format reads.
func (l *logs) recogniseLog(x *log, size int64) {
	b := make([]byte, min(size-x.offset, tailSize))
	n, err := x.f.ReadAt(b, x.offset)
	if err != nil && err != io.EOF {
		return
	}
	b = b[:bytes.LastIndexByte(b[:n], '\n')+1]
	if len(b) == 0 && n < tailSize {
		return // there is no whole line yet
	}
	x.tries++
	switch {
	case len(b) > 0 && isText(b) && l.sink.Known(b):
		if l.startArtifact(x); x.out != nil {
			l.readAppended(x)
		}
	case x.tries == mostTries || !isText(b):
		x.over = true
	}
}

// startArtifact starts the artifact of a log.
func (l *logs) startArtifact(x *log) {
	if l.chosen == mostLogs {
		l.refused++
		x.over = true
		return
	}
	x.name = l.artifactName(x.path)
	out, err := l.sink.Create(capture.Meta{Name: x.name, Probe: name, Origin: x.formatOrigin(), About: l.about, Lines: true, Found: true, Continues: true})
	if err != nil {
		l.sink.Warnf("%s: %v", x.name, err)
		x.over = true
		return
	}
	x.out = out
	l.chosen++
}

func (x *log) formatOrigin() string { return fmt.Sprintf("%s (open fd %d)", x.path, x.fd) }

// closeArtifacts ends the artifacts, and warns about logs that were skipped in part, stayed empty, or were too many.
func (l *logs) closeArtifacts(took time.Duration) {
	for _, x := range l.files {
		if x.out != nil {
			if len(x.pending) > 0 && !x.over {
				l.writePending(x, len(x.pending))
			}
			if err := x.out.Close(); err != nil && !l.broken {
				l.sink.Warnf("%s: %v", x.name, err)
			}
			switch {
			case x.skipped > 0:
				l.sink.Warnf("%s grows faster than %d MB/s: %.1f MB of it was skipped", x.name, mostBytes/(1<<20)*int(time.Second/often), float64(x.skipped)/1e6)
			case x.got == 0:
				l.sink.Warnf("nothing was written to %s in %.0f s: there were no requests, or the program buffers its log: record longer (--for 60s)", x.formatOrigin(), took.Seconds())
			}
		}
		_ = x.f.Close()
	}
	if l.refused > 0 {
		l.sink.Warnf("more logs are open than the limit of %[2]d: not recorded: %[1]d", l.refused, mostLogs)
	}
}
