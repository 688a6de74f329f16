package discover

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/unstall/unstall/internal/format"
)

// Files resolves names in order. A directory stands for the regular files in it, one level deep, by name. "-" stands for stdin.
// Stdin and pipes are copied to unlinked files so that they can be read several times. Errors are one line each; names that could be resolved are
// returned with them. Calling close releases the copies.
func Files(names []string, stdin io.Reader) (artifacts []*format.Artifact, close func(), errs []error) {
	var open []io.Closer
	close = func() {
		for _, c := range open {
			_ = c.Close()
		}
	}
	var seen []os.FileInfo
	for _, name := range names {
		if name == "-" {
			a, f, err := spoolToFile(stdin)
			if err != nil {
				errs = append(errs, fmt.Errorf("standard input: %w", err))
				continue
			}
			open = append(open, f)
			artifacts = append(artifacts, a)
			continue
		}
		paths, err := expandPath(name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, p := range paths {
			fi, err := os.Stat(p)
			if err == nil && slices.ContainsFunc(seen, func(other os.FileInfo) bool { return os.SameFile(fi, other) }) {
				continue // named twice; its requests must count once
			}
			if err == nil {
				seen = append(seen, fi)
			}
			a := format.File(p)
			a.Walked = p != name
			if err == nil && fi.Mode()&os.ModeNamedPipe != 0 {
				f, err := spoolPipe(a)
				if err != nil {
					errs = append(errs, fmt.Errorf("%s: %w", p, err))
					continue
				}
				open = append(open, f)
			}
			artifacts = append(artifacts, a)
		}
	}
	return artifacts, close, errs
}

func expandPath(name string) ([]string, error) {
	fi, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, Explain(fmt.Errorf("%s: %w", name, withoutPath(err)))
	case !fi.IsDir():
		return []string{name}, nil
	}
	entries, err := os.ReadDir(name)
	if err != nil {
		return nil, Explain(fmt.Errorf("%s: %w", name, withoutPath(err)))
	}
	var paths []string
	for _, e := range entries { // already sorted by name
		p := filepath.Join(name, e.Name())
		if fi, err := os.Stat(p); err == nil && fi.Mode().IsRegular() && !strings.HasPrefix(e.Name(), ".") {
			paths = append(paths, p)
		}
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("%s: this directory has no files: give the files themselves", name)
	}
	return paths, nil
}

// Explain adds to an error about a file what to do.
func Explain(err error) error {
	for _, e := range []struct {
		is   error
		what string
	}{
		{fs.ErrNotExist, "check the name"},
		{fs.ErrPermission, "read it as its owner, or with sudo"},
		{syscall.ENOTDIR, "check the name"},
		{format.ErrCut, "the part before that was read"},
	} {
		if errors.Is(err, e.is) && !strings.Contains(err.Error(), e.what) {
			return fmt.Errorf("%w: %s", err, e.what)
		}
	}
	return err
}

func withoutPath(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
