package probe

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Alive says whether a process of this host runs: one that ended and was not waited for (state Z) does not.
func Alive(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	i := strings.LastIndexByte(string(b), ')')
	return err == nil && i > 0 && i+2 < len(b) && b[i+2] != 'Z' && b[i+2] != 'X'
}

// ProcessOf returns the process of a thread of this host, 0 if it has ended.
func ProcessOf(thread int) (pid int) {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", thread))
	_, after, _ := strings.Cut(string(b), "\nTgid:")
	line, _, _ := strings.Cut(after, "\n")
	pid, _ = strconv.Atoi(strings.TrimSpace(line))
	return pid
}

// Wait waits for d; it returns false if ctx ends first.
func Wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
