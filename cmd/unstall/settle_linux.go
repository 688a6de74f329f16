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

// settled is when what a start needed is needed no longer, and again and again from then on.
var settled = []time.Duration{5 * time.Second, 30 * time.Second, 5 * time.Minute, time.Hour}

// releasePages gives the pages of the program file that starting touched and watching does not
// need back to the kernel: half of what a watcher would keep resident. A page that is needed again
// is mapped again from the kernel's cache.
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

// dropFilePages drops mappings of the program's file in which nothing was written: smaps gives the
// anonymous part of each mapping (proc_pid_smaps(5)), which is not zero where the loader relocated
// the program.
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
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, from, to-from, unix.MADV_DONTNEED) // a courtesy: it goes on without
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
