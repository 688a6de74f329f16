package probe

import (
	"os"
	"strconv"
	"strings"
)

// Boot is the id of this boot of the host, "" unknown.
func Boot() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id))
}

// PIDNamespace is the number of ours, 0 unknown.
func PIDNamespace() int {
	link, err := os.Readlink("/proc/self/ns/pid") // pid:[4026531836]
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(link, "pid:["), "]"))
	return n
}
