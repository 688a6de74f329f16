//go:build unix

package watch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// errShared says that another watcher uses the folder. Each of the two would bound the other's ring.
var errShared = errors.New("another unstall watch")

// lockFolder locks a folder for this watcher until it is released or the process ends, however it ends. A folder that
// cannot be written is not locked; the trouble is reported where the folder is used.
func lockFolder(dir string) (release func(), err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return func() {}, nil //nolint:nilerr // said where the folder is used
	}
	path := filepath.Join(dir, "lock")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return func() {}, nil //nolint:nilerr // said where the folder is used
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); errors.Is(err, unix.EWOULDBLOCK) {
		who, _ := os.ReadFile(path)
		_ = f.Close()
		return nil, fmt.Errorf("%s: %w (pid %s) keeps its ring there: stop that one, or give another --dir", dir, errShared, strings.TrimSpace(string(who)))
	}
	if f.Truncate(0) == nil {
		_, _ = fmt.Fprintln(f, os.Getpid()) // tells a second watcher which process holds the lock; the lock works without it
	}
	return func() { _ = f.Close() }, nil
}
