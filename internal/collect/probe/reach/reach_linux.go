package reach

import (
	"fmt"
	"os"
	"strings"
)

// Elsewhere says whether a process has another network than this one. Its loopback addresses would lead to another process here.
func Elsewhere(pid int) bool {
	theirs, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", pid))
	if err != nil {
		return false
	}
	ours, err := os.Readlink("/proc/self/ns/net")
	return err == nil && ours != theirs
}

// SocketPath returns the path on this host of a socket that another process made, perhaps with another root directory.
func SocketPath(path string, pid int) string {
	if strings.HasPrefix(path, "@") {
		return path
	}
	if through := fmt.Sprintf("/proc/%d/root%s", pid, path); len(through) < 108 {
		if _, err := os.Stat(through); err == nil {
			return through
		}
	}
	return path
}
