package watch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/unstall/unstall/internal/base/sorting"
)

// Ring holds the last minutes of all targets' recordings: captures of a minute each in one folder. The oldest are removed
// first. After a kill the existing ones are still whole.
type Ring struct {
	Dir  string
	Size int64 // bytes of all segments together

	mu   sync.Mutex
	open map[string]bool // paths being written
	last int64           // number of the newest segment
}

// Segment is one capture of the ring.
type Segment struct {
	Path string
	Key  string    // of the segment's target
	From time.Time // when it began
	n    int64
	size int64
}

const segmentSuffix = ".unstall"

var segmentName = regexp.MustCompile(`^(.+)-([0-9]{19})-([0-9]+)\.unstall$`)

// OpenRing creates the folder, and drops the oldest segments of an earlier watcher until the rest fits.
func OpenRing(dir string, size int64) (*Ring, error) {
	r := &Ring{Dir: dir, Size: size, open: make(map[string]bool)}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return r, err
	}
	f, err := os.CreateTemp(dir, ".try-")
	if err != nil {
		return r, err
	}
	_ = f.Close()
	err = os.Remove(f.Name())
	r.Bound()
	return r, err
}

// New returns the path of a target's next segment.
func (r *Ring) New(key string, now time.Time) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last++
	path := filepath.Join(r.Dir, fmt.Sprintf("%s-%019d-%d%s", fileKey(key), now.UnixNano(), r.last, segmentSuffix))
	r.open[path] = true
	return path
}

// Done marks a segment as complete, and drops the oldest segments if the ring is too large.
func (r *Ring) Done(path string) {
	r.mu.Lock()
	delete(r.open, path)
	r.mu.Unlock()
	r.Bound()
}

// fileKey returns a target's key in a form that is valid in file names.
func fileKey(key string) string {
	return strings.Map(func(c rune) rune {
		if c <= ' ' || c > '~' || strings.ContainsRune(`/\:*?"<>|`, c) {
			return '_'
		}
		return c
	}, key)
}

// listSegments returns the segments in the folder, oldest first.
func (r *Ring) listSegments() (all []Segment) {
	entries, err := os.ReadDir(r.Dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		m := segmentName.FindStringSubmatch(e.Name())
		if m == nil {
			continue
		}
		at, err := strconv.ParseInt(m[2], 10, 64)
		fi, err2 := e.Info()
		if err != nil || err2 != nil {
			continue
		}
		n, _ := strconv.ParseInt(m[3], 10, 64)
		all = append(all, Segment{Path: filepath.Join(r.Dir, e.Name()), Key: m[1], From: time.Unix(0, at), n: n, size: fi.Size()})
	}
	// Sort by start time. After a clock is set back, the newest segments come first.
	sorting.Short(all, func(a, b Segment) int { return a.From.Compare(b.From) })
	return all
}

// Since returns a target's segments that hold anything after a time: those that began later, and the last one before.
func (r *Ring) Since(key string, from time.Time) (out []Segment) {
	key = fileKey(key)
	for _, s := range r.listSegments() {
		if s.Key != key {
			continue
		}
		if !s.From.After(from) {
			out = out[:0]
		}
		out = append(out, s)
	}
	return out
}

// Bound drops the oldest segments until the rest fits, except those being written. It returns the size of the rest in
// bytes.
func (r *Ring) Bound() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.listSegments()
	sum := int64(0)
	for _, s := range all {
		sum += s.size
	}
	for _, s := range all {
		if sum <= r.Size {
			break
		}
		if r.open[s.Path] {
			continue
		}
		if err := os.Remove(s.Path); err == nil || errors.Is(err, os.ErrNotExist) {
			sum -= s.size
		}
	}
	return sum
}

// Drop removes the oldest segment that is not being written, to make room on a full disk; false if it removed none.
func (r *Ring) Drop() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.listSegments() {
		if !r.open[s.Path] {
			return os.Remove(s.Path) == nil
		}
	}
	return false
}

// Keep drops segments that ended before a time, including those of targets that are gone.
func (r *Ring) Keep(since time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.listSegments()
	for i, s := range all {
		// A segment ends where the next segment of its target begins.
		until := s.From.Add(2 * segmentFor)
		for _, next := range all[i+1:] {
			if next.Key == s.Key {
				until = next.From
				break
			}
		}
		if until.Before(since) && !r.open[s.Path] {
			_ = os.Remove(s.Path)
		}
	}
}
