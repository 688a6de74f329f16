//go:build unix

package probe

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// openPrivate opens a directory that belongs to this user, that no other user can write or read, and that is not a link. Its parent may
// be writable by other users.
func openPrivate(dir string) (*os.Root, error) {
	before, err := os.Lstat(dir)
	if err != nil {
		return nil, err
	}
	s, ok := before.Sys().(*syscall.Stat_t)
	if !before.IsDir() || before.Mode().Perm()&0o077 != 0 || !ok || int(s.Uid) != os.Geteuid() {
		return nil, fmt.Errorf("%s is not a private directory of this user", dir)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	if now, err := root.Stat("."); err != nil || !os.SameFile(before, now) {
		_ = root.Close()
		return nil, fmt.Errorf("%s was changed", dir)
	}
	return root, nil
}

// isOwnDir says whether a directory is this user's.
func isOwnDir(dir string) bool {
	fi, err := os.Stat(dir)
	if err != nil {
		return false
	}
	s, ok := fi.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid()
}

// lockFile locks an open file by flock(2), without waiting; the error says that another open file
// holds the lock. The lock lasts until the last duplicate of this open file is closed.
func lockFile(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// duplicateFile returns a second descriptor of the same open file, which shares its lock.
func duplicateFile(f *os.File) (*os.File, error) {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}
