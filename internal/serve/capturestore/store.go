// Package capturestore reads a directory of captures and other evidence: it lists the files, and
// makes a diagnosis, a comparison or a prediction of those a caller names.
//
// Its opinion: a name is that of a file in the directory, not a path. Names may come from a browser
// or an assistant, so nothing outside the directory is opened and no link is followed. One thing is
// read at a time: evidence is large, and the host may be the sick one.
package capturestore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/operate/compare"
)

// Shelf is a directory. It is safe for concurrent use.
type Shelf struct {
	dir     string
	root    *os.Root
	version string // of the tool
	reading chan struct{}

	mu       sync.Mutex
	findings map[string]Finding // by name, with the size and age of the file
}

// ErrName is wrapped by errors about names of files that do not exist here.
var ErrName = errors.New("no such file in the served directory")

// Open opens a directory.
func Open(dir, version string) (*Shelf, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, discover.Explain(fmt.Errorf("%s: %w", dir, stripPath(err)))
	}
	if whole, err := filepath.Abs(dir); err == nil { // "." says little on a page
		dir = whole
	}
	return &Shelf{dir: dir, root: root, version: version, reading: make(chan struct{}, 1), findings: map[string]Finding{}}, nil
}

// Close closes the directory.
func (s *Shelf) Close() error { return s.root.Close() }

// Dir returns the directory's name.
func (s *Shelf) Dir() string { return s.dir }

// Item is a file.
type Item struct {
	Name    string
	Bytes   int64
	At      time.Time // a capture's beginning, else when it was written last
	Capture bool

	// Of a capture.
	Target  string // name of what was recorded, "" unknown
	Host    string
	For     time.Duration // how long it was recorded; 0 unknown
	Running bool          // it did not end yet, or was killed

	Broken string // why a file named like a capture is none, "" it is one
}

// mostItems bounds how many files are listed.
const mostItems = 5000

// Items returns the files of the directory, those of the latest captures first; left is how many
// more there are.
func (s *Shelf) Items() (all []Item, left int, err error) {
	dir, err := s.root.Open(".")
	if err != nil {
		return nil, 0, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, 0, err
	}
	slices.Sort(names)
	for _, name := range names {
		path, err := s.Path(name)
		if err != nil {
			continue
		}
		if len(all) == mostItems {
			left++
			continue
		}
		fi, err := os.Stat(path)
		if err != nil {
			continue // it was removed
		}
		item := Item{Name: name, Bytes: fi.Size(), At: fi.ModTime()}
		if strings.HasSuffix(name, ".unstall") {
			if c, err := capture.Open(path); err == nil {
				item.Capture, item.At, item.Target, item.Host, item.Running = true, c.Info.Start, c.Info.Target, c.Info.Host, !c.Ended
				item.For = c.End.Sub(c.Info.Start)
			} else {
				item.Broken = strings.TrimPrefix(err.Error(), path+": ")
			}
		}
		all = append(all, item)
	}
	sorting.Short(all, func(a, b Item) int {
		if a.Capture != b.Capture {
			if a.Capture {
				return -1
			}
			return 1
		}
		return cmp.Or(b.At.Compare(a.At), strings.Compare(a.Name, b.Name))
	})
	return all, left, nil
}

// Path returns the path of a file; the error is [ErrName] for names that are no file of this
// directory.
func (s *Shelf) Path(name string) (string, error) {
	if name == "" || len(name) > 255 || strings.ContainsAny(name, "/\\\x00") || strings.HasPrefix(name, ".") || !filepath.IsLocal(name) {
		return "", fmt.Errorf("%.80q: %w", name, ErrName)
	}
	fi, err := s.root.Lstat(name)
	if err != nil || !fi.Mode().IsRegular() {
		return "", fmt.Errorf("%.80q: %w", name, ErrName)
	}
	return filepath.Join(s.dir, name), nil
}

// lockReading waits until nothing else is read, and returns what ends the reading.
func (s *Shelf) lockReading(ctx context.Context) (done func(), err error) {
	select {
	case s.reading <- struct{}{}:
		return func() { <-s.reading }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// readFiles parses files. What could not be read of some is in the bundle's warnings; the error
// says that nothing could be read.
func (s *Shelf) readFiles(ctx context.Context, names []string) (*evidence.Bundle, error) {
	var paths []string
	for _, name := range names {
		path, err := s.Path(name)
		if err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return s.parseFiles(ctx, paths)
}

func (s *Shelf) parseFiles(ctx context.Context, paths []string) (*evidence.Bundle, error) {
	artifacts, done, errs := discover.Files(paths, strings.NewReader(""))
	defer done()
	bundle := incident.NewBundle()
	for _, a := range artifacts {
		if err := incident.Read(ctx, a, bundle); err != nil && !(a.Walked && errors.Is(err, format.ErrUnknown)) {
			errs = append(errs, discover.Explain(err))
		}
	}
	for i, err := range errs {
		errs[i] = errors.New(strings.ReplaceAll(err.Error(), s.dir+string(filepath.Separator), ""))
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case len(bundle.Artifacts) == 0 && len(errs) == 0:
		return nil, errors.New("unknown format")
	case len(bundle.Artifacts) == 0:
		return nil, errors.Join(errs...)
	}
	for _, err := range errs {
		bundle.Warnf(0, "%v", err)
	}
	return bundle, nil
}

// Diagnose diagnoses some files together. The version of the options is replaced by the shelf's.
func (s *Shelf) Diagnose(ctx context.Context, names []string, opt diagnose.Options) (*diagnose.Diagnosis, error) {
	done, err := s.lockReading(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	bundle, err := s.readFiles(ctx, names)
	if err != nil {
		return nil, err
	}
	opt.Version = s.version
	return diagnose.Run(ctx, bundle, opt)
}

// Held returns the normalized evidence in files, for callers that want no verdict.
func (s *Shelf) Held(ctx context.Context, names []string) (*evidence.Bundle, error) {
	done, err := s.lockReading(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	bundle, err := s.readFiles(ctx, names)
	if err != nil {
		return nil, err
	}
	return incident.Normalize(bundle), nil
}

// Bundle returns the evidence in files.
func (s *Shelf) Bundle(ctx context.Context, names []string) (*evidence.Bundle, error) {
	done, err := s.lockReading(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	return s.readFiles(ctx, names)
}

// Compare compares runs before a change with runs after it, a file each.
func (s *Shelf) Compare(ctx context.Context, before, after []string, slo time.Duration) (*compare.Comparison, error) {
	done, err := s.lockReading(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	var sides [2][]compare.Run
	for i, names := range [][]string{before, after} {
		for _, name := range names {
			path, err := s.Path(name)
			if err != nil {
				return nil, err
			}
			var failed error
			runs, err := compare.Read(path, func(paths []string) *evidence.Bundle {
				bundle, err := s.parseFiles(ctx, paths)
				failed = errors.Join(failed, err)
				return bundle
			}, compare.MeasureOptions{SLO: slo, Parts: len(before) == 1 && len(after) == 1})
			if err = errors.Join(err, failed); err != nil {
				return nil, err
			}
			sides[i] = append(sides[i], runs...)
		}
	}
	return compare.Compare(sides[0], sides[1], compare.Options{Before: strings.Join(before, ", "), After: strings.Join(after, ", ")})
}

func stripPath(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
