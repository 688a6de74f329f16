package main

import (
	"fmt"
	"os"
	"time"

	"github.com/unstall/unstall/lab/process"
)

// watchProcfs writes what /proc says of the host, the service and its neighbours
// into one txtar, a section for each file and instant: "-- 1763689985000000000
// /proc/stat --". It returns the function that stops it.
func (s *session) watchProcfs() (stop func()) {
	if s.procfs == 0 {
		return func() {}
	}
	files := []string{"/proc/stat", "/proc/pressure/cpu", "/proc/loadavg", "/proc/vmstat"}
	for _, p := range append([]*process.Process{s.service}, s.others...) {
		for _, name := range []string{"stat", "status", "schedstat"} {
			files = append(files, fmt.Sprintf("/proc/%d/%s", p.PID, name))
		}
	}
	groups := fmt.Sprintf("/proc/%d/cgroup", s.service.PID)
	if s.group != nil {
		files = append(files, groups)
		files = append(files, s.group.Files()...)
	}
	out, err := os.Create(s.tmpPath("procfs.txtar"))
	if err != nil {
		return func() {}
	}
	done, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		defer out.Close()
		tick := time.NewTicker(s.procfs)
		defer tick.Stop()
		for {
			for _, path := range files {
				now := time.Now().UnixNano()
				if b, err := os.ReadFile(path); err == nil {
					if path == groups {
						b = s.group.Membership(b)
					}
					fmt.Fprintf(out, "-- %d %s --\n%s", now, path, b)
				}
			}
			select {
			case <-tick.C:
			case <-done:
				return
			}
		}
	}()
	return func() { close(done); <-gone }
}
