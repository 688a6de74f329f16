package main

import (
	"bufio"
	"context"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// settled are the times after a start at which pages used only by the start are released; the last one repeats.
var settled = []time.Duration{5 * time.Second, 30 * time.Second, 5 * time.Minute, time.Hour}

// releasePages gives pages of the program file back to the kernel that starting touched and watching does not need. They would be
// half of a watcher's resident memory. If a page is needed again, the kernel maps it again from its cache.
func releasePages(ctx context.Context) {
	for i := 0; ; i = min(i+1, len(settled)-1) {
		select {
		case <-time.After(settled[i]):
			dropFilePages()
		case <-ctx.Done():
			return
		}
	}
}

// dropFilePages drops unmodified mappings of the program's file. smaps gives the anonymous part of each mapping (proc_pid_smaps(5)),
// which is not zero if the loader relocated the program.
func dropFilePages() {
	self, err := os.Readlink("/proc/self/exe")
	f, err2 := os.Open("/proc/self/smaps")
	if err != nil || err2 != nil {
		return
	}
	defer f.Close()
	var from, to uintptr
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		switch {
		case len(fields) >= 5 && strings.Contains(fields[0], "-"):
			from, to = 0, 0
			if len(fields) == 6 && fields[5] == self && !strings.Contains(fields[1], "w") {
				from, to = parseAddressRange(fields[0])
			}
		case len(fields) == 3 && fields[0] == "Anonymous:" && fields[1] == "0" && to > from:
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, from, to-from, unix.MADV_DONTNEED) // optional, so errors are ignored
		}
	}
}

// parseAddressRange parses an address range such as "00400000-01a2b000".
func parseAddressRange(text string) (from, to uintptr) {
	a, b, _ := strings.Cut(text, "-")
	begin, err := strconv.ParseUint(a, 16, 64)
	end, err2 := strconv.ParseUint(b, 16, 64)
	if err != nil || err2 != nil {
		return 0, 0
	}
	return uintptr(begin), uintptr(end)
}
