package capture

import (
	"bytes"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"github.com/unstall/unstall/internal/base/redact"
	"github.com/unstall/unstall/internal/base/redact/recorded"
)

// artifact gathers the data written to one artifact into chunks.
type artifact struct {
	w    *Writer
	meta Meta

	order  sync.Mutex // held while a chunk is written, so that chunks stay in order
	chunks int        // number of written chunks
	raw    bool
	spare  []byte // the buffer to use next

	mu      sync.Mutex // held only briefly, so that a probe does not wait for the disk
	closed  bool
	buf     []byte
	partial []byte // of a text: the last line, without its end
	long    bool   // the rest of that line is dropped
	secrets redact.Text
	filter  recorded.Filter // for data that is not text in lines
}

// Write implements io.Writer. It waits for the disk only if a whole chunk is waiting for it.
func (a *artifact) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		a.mu.Lock()
		if a.closed {
			a.mu.Unlock()
			return 0, fmt.Errorf("%s: %s: %w", a.w.path, a.meta.Name, fs.ErrClosed)
		}
		if a.meta.Lines {
			p = p[a.takeLines(p):]
		} else {
			room := min(len(p), chunkSize)
			a.buf = append(a.buf, a.filter.Next(p[:room])...)
			p = p[room:]
		}
		full := len(a.buf) >= chunkSize
		a.mu.Unlock()
		if full {
			a.flush()
		}
	}
	if err := a.w.takeError(); err != nil {
		return 0, err
	}
	return n, nil
}

// Close ends the artifact. All data written to it is then readable.
func (a *artifact) Close() error {
	a.finish()
	return a.w.takeError()
}

// maxLine is the longest part of a line that is kept, in bytes. The cut could be in the middle of a secret, so the
// rest of the line is dropped and not kept as another line.
const maxLine = chunkSize

// takeLines stores the lines of p until the chunk is full. It keeps a line without an end for the next call, and returns
// how many bytes of p it took.
func (a *artifact) takeLines(p []byte) (n int) {
	for len(p) > n && len(a.buf) < chunkSize {
		end := bytes.IndexByte(p[n:], '\n')
		line := p[n:]
		if end >= 0 {
			line = line[:end]
		}
		n += len(line)
		room := maxLine - len(a.partial)
		if len(line) > room {
			line, a.long = line[:room], true
		}
		if end < 0 {
			a.partial = append(a.partial, line...)
			return n
		}
		n++
		if len(a.partial) > 0 {
			a.partial = append(a.partial, line...)
			line = a.partial
		}
		a.storeLine(line)
		a.buf = append(a.buf, '\n')
	}
	return n
}

// storeLine stores a line, given without its line break, after the filters of secrets.
func (a *artifact) storeLine(line []byte) {
	a.buf = append(a.buf, recorded.Line(&a.secrets, line, a.filterHint())...)
	if a.long {
		a.buf = append(a.buf, " [cut]"...)
	}
	a.partial, a.long = a.partial[:0], false
}

// mostChunk is the largest size of a chunk, in bytes.
const mostChunk = 2 * chunkSize

// filterHint tells the filters of secrets what kind of text the artifact holds.
func (a *artifact) filterHint() recorded.Hint {
	return recorded.Hint{Lines: a.meta.Lines, Threads: a.meta.Series == "threads"}
}

// flush writes the gathered data to the file, as one chunk or several.
func (a *artifact) flush() {
	a.order.Lock()
	defer a.order.Unlock()
	a.mu.Lock()
	content := a.buf
	a.buf = a.spare[:0]
	a.mu.Unlock()
	for piece := range slices.Chunk(content, mostChunk) { // a filter may have held back much
		if a.chunks == 0 {
			a.raw = isCompressed(piece)
		}
		a.chunks++
		a.w.storeChunk(a.meta, a.chunks, a.raw, piece)
	}
	a.spare = content
}

// finish writes the rest of the artifact and marks it as ended. Further calls do nothing.
func (a *artifact) finish() {
	a.mu.Lock()
	again := a.closed
	a.closed = true
	if len(a.partial) > 0 {
		a.storeLine(a.partial)
	}
	if !a.meta.Lines && !again {
		a.buf = append(a.buf, a.filter.End()...)
	}
	a.mu.Unlock()
	if again {
		return
	}
	a.flush()
	a.w.forgetArtifact(a)
}
