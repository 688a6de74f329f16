//go:build unix

package watch

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestLock checks that two watchers do not bound each other's ring, and that a folder is free again once its watcher has
// ended.
func TestLock(t *testing.T) {
	dir := t.TempDir()
	release, err := lockFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	_, err = lockFolder(dir)
	if !errors.Is(err, errShared) || !strings.Contains(err.Error(), fmt.Sprintf("(pid %d)", os.Getpid())) || !strings.Contains(err.Error(), "--dir") {
		t.Errorf("a second watcher: %v", err)
	}
	release()
	if release, err = lockFolder(dir); err != nil {
		t.Errorf("after the first has ended: %v", err)
	} else {
		release()
	}
}
