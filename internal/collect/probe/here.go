package probe

import (
	"os"
	"strconv"
	"strings"
)

// Boot returns the ID of this boot of the host, "" unknown.
func Boot() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id))
}

// PIDNamespace returns the number of this process's PID namespace, 0 unknown.
func PIDNamespace() int {
	link, err := os.Readlink("/proc/self/ns/pid") // pid:[4026531836]
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(link, "pid:["), "]"))
	return n
}
