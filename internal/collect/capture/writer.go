package capture

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/unstall/unstall/internal/base/redact"
	"github.com/unstall/unstall/internal/base/redact/recorded"
)

// flushEvery is how long recorded data stays in memory.
const flushEvery = 2 * time.Second

// maxEvents bounds warnings, so that a probe that repeats itself does not fill the disk.
const maxEvents = 1000

// Writer writes a capture. It is safe for concurrent use.
//
// If nothing more can be stored (disk full), the next write of any artifact returns the error, once. The capture stays
// well-formed with the data recorded before. Later data is dropped without an error.
type Writer struct {
	path string
	stop chan struct{}
	done chan struct{} // the flusher has ended

	mu      sync.Mutex // never held while waiting for an artifact's locks
	f       file
	off     int64 // end of the last whole member
	err     error // the first error, which ended writing
	told    bool  // a write has returned it
	closed  bool
	names   map[string]int
	open    map[*artifact]bool
	seen    *redact.Seen
	events  int
	said    map[string]bool // warnings and lacks
	zstd    *zstd.Encoder
	packed  []byte
	scratch bytes.Buffer
}

// file are the methods of *os.File that a Writer needs.
type file interface {
	io.WriterAt
	Truncate(size int64) error
	Close() error
}

// Create starts a capture in a new file that only its owner can read, because it may hold confidential data. It never
// overwrites a file.
func Create(path string, info Info) (*Writer, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil, fmt.Errorf("%s: %w: unstall does not overwrite files; give another name", path, withoutPath(err))
	case err != nil:
		return nil, fmt.Errorf("%s: cannot be created: %w", path, withoutPath(err))
	}
	w, err := newWriter(f, path, info)
	if err != nil {
		_ = f.Close()
		_ = os.Remove(path)
		return nil, fmt.Errorf("%s: cannot be written: %w", path, withoutPath(err))
	}
	return w, nil
}

func newWriter(f file, path string, info Info) (*Writer, error) {
	// Windows larger than a chunk only cost memory. For recordings of .NET, entropy coding of literals takes half of the time
	// and saves a fifteenth of the size.
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(chunkSize), zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(false), zstd.WithNoEntropyCompression(true))
	if err != nil {
		return nil, err
	}
	w := &Writer{path: path, f: f, zstd: z, stop: make(chan struct{}), done: make(chan struct{}),
		names: map[string]int{manifestName: 1, eventsName: 1}, open: make(map[*artifact]bool), seen: redact.NewSeen(), said: make(map[string]bool)}
	head := manifest{schema, info.Tool, info.Host, redact.URL(info.Target), info.Start.UTC(), redact.Args(info.Command), info.ExpectedRate}
	if err := w.appendMember(manifestName, time.Now(), mustMarshal(head), nil); err != nil {
		return nil, err
	}
	go w.flushPeriodically()
	return w, nil
}

// Create starts an artifact. It changes a name that exists already or is not valid for a file. An artifact without data is not
// written.
func (w *Writer) Create(m Meta) (io.WriteCloser, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil, fmt.Errorf("%s: %w: the recording has ended", w.path, fs.ErrClosed)
	}
	m.Name = uniqueName(fileName(m.Name), w.names)
	m.Origin = redact.URL(m.Origin)
	a := &artifact{w: w, meta: m, secrets: redact.Text{Seen: w.seen}, filter: recorded.Filter{Seen: w.seen}}
	a.filter.Hint = a.filterHint()
	w.open[a] = true
	return a, nil
}

// Warnf stores a warning to the user at once. It does not repeat an earlier warning.
func (w *Writer) Warnf(format string, args ...any) {
	text := replaceControls(string(redact.Line(fmt.Appendf(nil, format, args...))))
	w.mu.Lock()
	defer w.mu.Unlock()
	w.storeEvent(event{Event: eventWarning, Text: text})
}

// Lack stores at once that data could not be recorded.
func (w *Writer) Lack(lacks ...Lack) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, l := range lacks {
		w.storeEvent(event{Event: eventLack, Lack: &l})
	}
}

// Flush makes all data written so far readable, except the last line of a text artifact while it has no end.
func (w *Writer) Flush() error {
	for _, a := range w.listOpenArtifacts() {
		a.flush()
	}
	return w.Err()
}

// Close ends the open artifacts and the recording. It returns the error that Err returns.
func (w *Writer) Close() error {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return w.Err()
	}
	w.closed = true // no artifact is created after this
	w.mu.Unlock()
	close(w.stop)
	<-w.done
	for _, a := range w.listOpenArtifacts() {
		a.finish()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	// The part that did not fit was cut off, so there may be room for a few blocks.
	err := w.err
	if err != nil {
		w.err = nil
		w.storeEvent(event{Event: eventWarning, Text: replaceControls("not everything could be stored: " + err.Error())})
	}
	w.storeEvent(event{Event: eventEnd})
	if w.err == nil {
		_, w.err = w.f.WriteAt(end, w.off)
	}
	if closing := w.f.Close(); w.err == nil {
		w.err = closing
	}
	_ = w.zstd.Close()
	if err != nil {
		w.err = err
	}
	return w.err
}

// Err returns the first error of writing to the file, nil if there was none.
func (w *Writer) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

func (w *Writer) flushPeriodically() {
	defer close(w.done)
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-w.stop:
			return
		case <-tick.C:
			_ = w.Flush() // the error stays in w.err
		}
	}
}

func (w *Writer) listOpenArtifacts() []*artifact {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []*artifact
	for a := range w.open {
		all = append(all, a)
	}
	return all
}

// takeError returns the error of writing to the first caller after the error, and nil to later callers.
func (w *Writer) takeError() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil || w.told {
		return nil
	}
	w.told = true
	return w.err
}

// forgetArtifact removes an artifact from the open ones and stores the event that it ended.
func (w *Writer) forgetArtifact(a *artifact) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.open, a)
	if a.chunks > 0 {
		w.storeEvent(event{Event: eventArtifact, Artifact: a.meta.Name})
	}
}

// storeEvent stores an event. It leaves out a warning or lack that was stored before, and all warnings and lacks beyond
// maxEvents. The caller holds mu.
func (w *Writer) storeEvent(e event) {
	if e.Event == eventWarning || e.Event == eventLack {
		key := string(mustMarshal(e)) // the key has no time
		switch {
		case w.said[key] || len(w.said) > maxEvents:
			return
		case len(w.said) == maxEvents:
			e = event{Event: eventWarning, Text: fmt.Sprintf("there were more than %d warnings: the rest was not kept", maxEvents)}
		}
		w.said[key] = true
	}
	w.events++
	e.Time = time.Now().UTC()
	_ = w.appendMember(fmt.Sprintf("%s/%06d.json", eventsName, w.events), e.Time, mustMarshal(e), nil)
}

// storeChunk stores a piece of an artifact; seq counts from 1.
func (w *Writer) storeChunk(m Meta, seq int, raw bool, content []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return
	}
	stored := content
	if !raw {
		w.packed = w.zstd.EncodeAll(content, w.packed[:0])
		stored = w.packed
	}
	n := note{CRC: checksumHex(stored)}
	if seq == 1 {
		n.Meta = m.toNote()
	}
	_ = w.appendMember(chunkName(m.Name, seq, raw), time.Now(), stored, mustMarshal(n))
}

// appendMember writes a member after the last one, whole or not at all. The caller holds mu or is the only user.
func (w *Writer) appendMember(name string, at time.Time, content, comment []byte) error {
	if w.err != nil {
		return w.err
	}
	w.scratch.Reset()
	err := writeMember(&w.scratch, name, at, content, comment)
	if err == nil {
		_, err = w.f.WriteAt(w.scratch.Bytes(), w.off)
	}
	if err != nil {
		_ = w.f.Truncate(w.off) // on an error a reader skips the remains
		w.err = fmt.Errorf("%s: %w: the data recorded until now is kept, the rest is lost", w.path, withoutPath(err))
		return err
	}
	w.off += int64(w.scratch.Len())
	return nil
}

// withoutPath removes the path from an error, because callers print the path before the error.
func withoutPath(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
