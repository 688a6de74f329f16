package capture

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Join writes consecutive captures into one, such as those of a ring. It copies stored data unchanged. An artifact with
// [Meta.Continues] is appended to the one of the same name in the capture before; every other artifact stays separate. Join
// leaves out a source that cannot be read, and adds a warning. The error is the first of writing; data written before it is
// readable.
func Join(path string, info Info, sources []*Capture) error {
	w, err := Create(path, info)
	if err != nil {
		return err
	}
	goesOn := make(map[metaNote]*joined)
	for _, c := range sources {
		f, err := os.Open(c.Path)
		if err != nil {
			w.Warnf("%s: %v: left out", c.Path, withoutPath(err))
			continue
		}
		for _, a := range c.artifacts {
			if err := w.copyArtifact(f, a, goesOn); err != nil {
				w.Warnf("%s: %s: %v", c.Path, a.meta.Name, err)
			}
		}
		_ = f.Close()
		for _, text := range c.Warnings {
			if !strings.HasPrefix(text, cutOffText) { // normal for a segment of a ring
				w.Warnf("%s", text)
			}
		}
		w.Lack(c.Lacks...)
		if w.Err() != nil {
			break
		}
	}
	return w.Close()
}

// joined is an artifact to which others are appended.
type joined struct {
	meta   Meta
	chunks int
	raw    bool
}

// copyArtifact copies the chunks of an artifact of another capture. A damaged chunk is left out.
func (w *Writer) copyArtifact(f io.ReaderAt, a *stored, goesOn map[metaNote]*joined) error {
	j := &joined{meta: a.meta}
	key := *a.meta.toNote()
	about := key.About
	key.About = nil
	if about != nil {
		key.Origin += fmt.Sprintf("\x00%+v", *about)
	}
	if a.meta.Continues {
		if old := goesOn[key]; old != nil {
			j = old
		} else {
			goesOn[key] = j
		}
	}
	var buf []byte
	for _, c := range a.chunks {
		var err error
		if buf, err = c.read(f, buf); err != nil {
			if errors.Is(err, errDamaged) {
				continue
			}
			return err
		}
		w.mu.Lock()
		if j.chunks == 0 {
			j.meta.Name = uniqueName(fileName(j.meta.Name), w.names)
			j.raw = isCompressed(buf) && !zstdFrame(buf)
		}
		j.chunks++
		n := note{CRC: checksumHex(buf)}
		if j.chunks == 1 {
			n.Meta = j.meta.toNote()
		}
		err = w.appendMember(chunkName(j.meta.Name, j.chunks, j.raw), a.at, buf, mustMarshal(n))
		w.mu.Unlock()
		if err != nil {
			return nil //nolint:nilerr // the end reports it once
		}
	}
	return nil
}

// zstdFrame says that a chunk was compressed to a frame when it was stored.
func zstdFrame(b []byte) bool { return len(b) >= 4 && string(b[:4]) == "\x28\xb5\x2f\xfd" }
