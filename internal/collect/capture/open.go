package capture

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/format"
)

// Bounds of what is kept from a file that may be anything.
const (
	maxArtifacts = 1 << 16
	maxChunks    = 1 << 22
	maxRead      = 10_000 // events
)

// Capture is a readable recording. It holds only an index; opening an artifact reads it from the file.
type Capture struct {
	Path     string
	Info     Info
	Warnings []string // from the recording, and from opening it
	Lacks    []Lack
	Ended    bool      // it ended properly: it was not killed, and is not still running
	Damage   string    // what is damaged in it, "" for nothing; being cut off is no damage
	End      time.Time // end of the recording, or time of the last member

	artifacts []*stored
	byName    map[string]*stored
	chunks    int
	last      *stored // the artifact whose chunk is the last member; nil: the last member is an event

	withoutNote int             // members that look like chunks but lack unstall's note
	gaps        map[string]bool // artifacts of which a chunk is lost; those after it are not read
}

// stored is an artifact in the file.
type stored struct {
	meta   Meta
	chunks []chunk
	seq    int // number of the last chunk
	size   int64
	at     time.Time // time of the last chunk
}

// Open reads the index of a capture, which may still be written to. A capture that was cut off gives its whole members, and a
// warning says so. The error is one line and wraps those of opening a file.
func Open(path string) (*Capture, error) {
	fi, err := os.Stat(path)
	if err == nil && !fi.Mode().IsRegular() { // opening a pipe waits
		err = errors.New("is not a regular file")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, withoutPath(err))
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, withoutPath(err))
	}
	defer f.Close()
	fi, err = f.Stat()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, withoutPath(err))
	}
	c, err := readIndex(f, fi.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	c.Path = path
	return c, nil
}

// readIndex reads the index of the first size bytes of a capture.
func readIndex(f io.ReaderAt, size int64) (*Capture, error) {
	r := io.NewSectionReader(f, 0, size)
	t := tar.NewReader(r)
	c := &Capture{byName: make(map[string]*stored), gaps: make(map[string]bool)}
	if err := c.readManifest(t, r); err != nil {
		return nil, err
	}
	end, _ := r.Seek(0, io.SeekCurrent) // of the last whole member; seeking in a section never fails
	end = (end + block - 1) / block * block
	for !c.Ended {
		h, err := t.Next()
		if err == io.EOF {
			break
		}
		offset, _ := r.Seek(0, io.SeekCurrent)
		if err == nil && h.Typeflag == tar.TypeReg && h.Size >= 0 && offset+h.Size <= size {
			end = offset + (h.Size+block-1)/block*block
			if damage := c.addMember(h, offset, t); c.Damage == "" {
				c.Damage = damage
			}
			continue
		}
		next, found := findHeader(f, end+block, size)
		if !found && (errors.Is(err, io.ErrUnexpectedEOF) || err == nil && offset+h.Size > size) {
			break // the remains of a kill need no warning beyond that the file was cut off
		}
		if c.Damage == "" {
			c.Damage = fmt.Sprintf("what follows byte %d is damaged", end)
		}
		if !found {
			break
		}
		end = next // so that the search goes on behind it if the member there is damaged, too
		_, _ = r.Seek(next, io.SeekStart)
		t = tar.NewReader(r)
	}
	if c.chunks > 0 && c.withoutNote > 0 && c.Damage == "" {
		c.Damage = units.Plural(c.withoutNote, "part") + " without unstall's note"
	}
	if c.Ended && len(c.artifacts) == 0 && c.withoutNote > 0 && c.Damage == "" {
		return nil, errors.New("was packed again by another program, which dropped what unstall notes of each part: give the capture as it was recorded")
	}
	if !c.Ended {
		c.dropTorn(f)
	}
	if !c.Ended || c.Damage != "" {
		c.warnOfEnd()
	}
	return c, nil
}

// findHeader returns the offset of the next member of unstall's at or after an offset: the header of a PAX record, with which each
// chunk begins, or that of an event. It tells a header by its checksum.
func findHeader(f io.ReaderAt, from, size int64) (int64, bool) {
	const many = 512 // blocks read at once
	buf := make([]byte, many*block)
	for ; from+block <= size; from += many * block {
		n, _ := f.ReadAt(buf[:min(int64(len(buf)), size-from)], from)
		for i := 0; i+block <= n; i += block {
			if isMemberHeader(buf[i : i+block]) {
				return from + int64(i), true
			}
		}
	}
	return 0, false
}

// isMemberHeader says whether a block is an undamaged header with which a member of unstall's begins (POSIX.1-1988, ustar: the
// checksum is at byte 148, the type at 156, the magic at 257).
func isMemberHeader(b []byte) bool {
	if string(b[257:262]) != "ustar" || b[156] != tar.TypeXHeader && !strings.HasPrefix(string(b[:100]), eventsName+"/") {
		return false
	}
	sum := int64(8 * ' ') // the checksum counts as spaces
	for i, c := range b {
		if i < 148 || i >= 156 {
			sum += int64(c)
		}
	}
	want, err := strconv.ParseInt(strings.Trim(string(b[148:156]), " \x00"), 8, 64)
	return err == nil && want == sum
}

// readManifest reads the manifest.
func (c *Capture) readManifest(t *tar.Reader, r *io.SectionReader) error {
	h, err := t.Next()
	if err != nil || h.Name != manifestName || h.Typeflag != tar.TypeReg {
		start := make([]byte, 263)
		n, _ := r.ReadAt(start, 0)
		switch {
		case n == 0:
			return errors.New("is empty: nothing was recorded")
		case errors.Is(err, tar.ErrHeader) && Is(start):
			return errors.New("is damaged at its beginning")
		case errors.Is(err, io.ErrUnexpectedEOF) && (Is(start) || n > 0 && strings.HasPrefix(manifestName, string(start[:min(n, len(manifestName))]))):
			return errors.New("was cut off before anything was recorded")
		}
		return errors.New("is not a capture: its first member is not " + manifestName)
	}
	b, err := io.ReadAll(io.LimitReader(t, maxStored))
	if err != nil {
		return errors.New("was cut off before anything was recorded")
	}
	var m manifest
	if err := json.Unmarshal(b, &m); err != nil {
		return fmt.Errorf("its %s is damaged: %w", manifestName, err)
	}
	if m.Schema != schema {
		return fmt.Errorf("has the format %s, but this version of unstall reads %s: use the version that recorded it (%s)", quoteShort(m.Schema), schema, quoteShort(m.Tool))
	}
	c.Info = Info{replaceControls(m.Tool), replaceControls(m.Host), replaceControls(m.Target), m.Start, m.Command, max(0, m.ExpectedRate)}
	c.End = m.Start
	return nil
}

// quoteShort quotes the first 40 characters of a text from the file.
func quoteShort(s string) string { return fmt.Sprintf("%.40q", s) }

// addMember adds a member to the index. It returns what is wrong with the rest of the file, "" if nothing is. It skips members
// that later versions or other programs add.
func (c *Capture) addMember(h *tar.Header, offset int64, content io.Reader) (damage string) {
	if strings.HasPrefix(h.Name, eventsName+"/") {
		return c.addEvent(h, content)
	}
	name, seq, ok := parseChunkName(h.Name)
	var n note
	if !ok {
		return ""
	}
	if json.Unmarshal([]byte(h.PAXRecords["comment"]), &n) != nil || n.CRC == "" {
		c.withoutNote++
		return ""
	}
	if h.Size > maxStored {
		return fmt.Sprintf("%s is too large", quoteShort(h.Name))
	}
	a := c.byName[name]
	switch {
	case c.gaps[name]:
		return ""
	case a == nil && n.Meta == nil, a != nil && seq != a.seq+1:
		c.gaps[name] = true
		return fmt.Sprintf("data is missing before %s", quoteShort(h.Name))
	case a == nil && len(c.artifacts) == maxArtifacts, c.chunks == maxChunks:
		return "it holds more artifacts or chunks than unstall reads"
	case a == nil:
		a = &stored{meta: n.Meta.toMeta(), seq: seq - 1}
		a.meta.Name = replaceControls(name)
		c.byName[name] = a
		c.artifacts = append(c.artifacts, a)
	}
	a.seq, a.at = seq, h.ModTime
	a.size += h.Size
	a.chunks = append(a.chunks, chunk{offset, int32(h.Size), n.CRC})
	c.chunks++
	c.last, c.End = a, laterTime(c.End, h.ModTime)
	return ""
}

func (c *Capture) addEvent(h *tar.Header, content io.Reader) (damage string) {
	b, err := io.ReadAll(io.LimitReader(content, 64<<10))
	var e event
	if err != nil || json.Unmarshal(b, &e) != nil {
		return fmt.Sprintf("%s is damaged", quoteShort(h.Name))
	}
	c.last, c.End = nil, laterTime(c.End, e.Time)
	switch {
	case e.Event == eventWarning && len(c.Warnings) < maxRead:
		c.Warnings = append(c.Warnings, replaceControls(e.Text))
	case e.Event == eventLack && e.Lack != nil && len(c.Lacks) < maxRead:
		c.Lacks = append(c.Lacks, Lack{replaceControls(e.Lack.What), replaceControls(e.Lack.Why), replaceControls(e.Lack.Do)})
	case e.Event == eventEnd:
		c.Ended = true
	}
	return ""
}

// laterTime returns the later of two times. So setting a clock back does not move the end of a capture.
func laterTime(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// dropTorn removes the last chunk if its content did not reach the disk.
func (c *Capture) dropTorn(f io.ReaderAt) {
	a := c.last
	if a == nil {
		return
	}
	n := len(a.chunks) - 1
	if _, err := a.chunks[n].read(f, nil); err == nil {
		return
	}
	a.size -= int64(a.chunks[n].size)
	a.chunks = a.chunks[:n]
	if n == 0 {
		c.artifacts = c.artifacts[:len(c.artifacts)-1] // the artifact that began last
	}
}

// cutOffText begins the warning about a capture without an end.
const cutOffText = "the recording was cut off"

// DamagedText begins the warning about a damaged capture.
const DamagedText = "the capture is damaged"

// warnOfEnd warns of a capture that has no end, or that is damaged. Damage comes before what the recording itself warned of.
func (c *Capture) warnOfEnd() {
	at := "at an unknown time"
	if !c.End.IsZero() {
		at = "at " + c.End.UTC().Format("15:04:05") + " UTC"
	}
	if !c.Ended {
		c.Warnings = append(c.Warnings, fmt.Sprintf(cutOffText+" %s, or the recording still runs: unstall reads it up to this point", at))
	}
	if c.Damage != "" {
		c.Warnings = slices.Insert(c.Warnings, 0, fmt.Sprintf(DamagedText+": %s; unstall reads what is whole, so that figures may lack a part", c.Damage))
	}
}

// Artifacts returns the recorded artifacts in the order in which they began. They are stored as zstd frames, or in their own
// compression. Package format decompresses both.
func (c *Capture) Artifacts() []*format.Artifact {
	all := make([]*format.Artifact, len(c.artifacts))
	for i, a := range c.artifacts {
		all[i] = &format.Artifact{Name: a.meta.Name, Size: a.size, Modified: a.at.UnixNano(), About: a.meta.About, Series: a.meta.Series,
			Open: func() (io.ReadCloser, error) {
				f, err := os.Open(c.Path)
				if err != nil {
					return nil, err
				}
				return &chunkReader{f: f, todo: a.chunks}, nil
			}}
	}
	return all
}

// Found says whether an artifact is a file that the program writes anyway, see [Meta].
func (c *Capture) Found(name string) bool {
	for _, a := range c.artifacts {
		if a.meta.Name == name {
			return a.meta.Found
		}
	}
	return false
}
