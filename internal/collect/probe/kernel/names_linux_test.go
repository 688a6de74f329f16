package kernel

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"testing"
)

// The kernel says what its functions are called, as /proc/kallsyms has them.
func TestNames(t *testing.T) {
	f, err := os.Open("/proc/kallsyms")
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	n := newNames(func(err error) { t.Skip(err) })
	defer n.close()
	checked := 0
	for lines := bufio.NewScanner(f); lines.Scan() && checked < 20; {
		w := strings.Fields(lines.Text())
		if len(w) != 3 || w[1] != "T" || !strings.HasPrefix(w[2], "vfs_") {
			continue
		}
		at, err := strconv.ParseUint(w[0], 16, 64)
		if err != nil || at == 0 {
			t.Skip("this user is not told where the kernel's functions are")
		}
		checked++
		if got := n.Name(at + 1); got != w[2] {
			t.Errorf("%s is called %q", w[2], got)
		}
	}
	if checked == 0 {
		t.Skip("no function was found to ask for")
	}
	if n.ask != nil && n.Name(1) != "" {
		t.Errorf("where no function is, there is %q", n.Name(1))
	}
}
