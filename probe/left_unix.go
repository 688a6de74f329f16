//go:build unix

package probe

import (
	"fmt"
	"os"
	"syscall"
)

// openPrivate opens a directory that is this user's and nobody else can write to or
// look into, and is no link: others may write to where it is.
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
