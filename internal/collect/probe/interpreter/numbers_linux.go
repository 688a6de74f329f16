package interpreter

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// numbers are the numbers of a process's threads: those that the process knows, which in a container are of its own namespace, and those of this host.
type numbers struct {
	pid     int
	host    map[int]int // by number in the process's namespace
	mayList bool        // the threads may be listed anew if one is not known
}

func newNumbers(pid int) *numbers { return &numbers{pid: pid, mayList: true} }

// find returns the host's number of a thread by the number that its process knows; 0: it has none with that.
func (n *numbers) find(tid int) int {
	if host := n.host[tid]; host != 0 || !n.mayList || tid <= 0 {
		return host
	}
	n.mayList = false
	n.list()
	return n.host[tid]
}

// list lists the threads (proc_pid_status(5): NSpid, whose last number is that of the innermost namespace).
func (n *numbers) list() {
	n.host = make(map[int]int)
	tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", n.pid))
	for _, t := range tasks {
		host, err := strconv.Atoi(t.Name())
		if err != nil {
			continue
		}
		own := host
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/status", n.pid, host))
		if _, rest, is := strings.Cut(string(status), "\nNSpid:"); is {
			line, _, _ := strings.Cut(rest, "\n")
			if all := strings.Fields(line); len(all) > 0 {
				if inner, err := strconv.Atoi(all[len(all)-1]); err == nil {
					own = inner
				}
			}
		}
		n.host[own] = host
	}
}
