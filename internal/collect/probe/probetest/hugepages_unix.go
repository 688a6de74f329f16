//go:build unix

package probetest

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// HugePages keeps the host's setting of transparent huge pages as it is until a test ends: whoever changes it takes it
// alone, and waits for those that count on it.
func HugePages(t *testing.T, alone bool) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(os.TempDir(), "unstall-test-thp.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	how := unix.LOCK_SH
	if alone {
		how = unix.LOCK_EX
	}
	for {
		if err := unix.Flock(int(f.Fd()), how); err == nil {
			return
		} else if err != unix.EINTR {
			t.Fatal(err)
		}
	}
}
