package probe

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// mostWorkers bounds how many workers of one process are recorded, and mostForking in how many of a process's threads children are looked for.
const (
	mostWorkers = 1024
	mostForking = 64
)

// Workers returns the PIDs of a process's children that have its name: those that a master such as
// gunicorn's, Puma's or nginx's, or of Node.js's cluster, has started to serve for it.
func Workers(pid int) (all []int) {
	name := processName(pid)
	if name == "" {
		return nil
	}
	for _, child := range Children(pid) {
		if len(all) < mostWorkers && processName(child) == name {
			all = append(all, child)
		}
	}
	return all
}

// Children returns the PIDs of a process's children, whichever of its threads started them (proc_pid_task(5): CONFIG_PROC_CHILDREN).
func Children(pid int) (all []int) {
	tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, t := range tasks[:min(len(tasks), mostForking)] {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, t.Name()))
		for f := range strings.FieldsSeq(string(b)) {
			if child, err := strconv.Atoi(f); err == nil {
				all = append(all, child)
			}
		}
	}
	return all
}

// processName returns the kernel's name of a process, "" unknown.
func processName(pid int) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	return strings.TrimSpace(string(b))
}
