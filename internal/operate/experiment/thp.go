package experiment

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/collect/discover"
)

// Transparent huge pages, https://docs.kernel.org/admin-guide/mm/transhuge.html. Each file lists its possible
// values with the current one in brackets: "always [madvise] never". A change affects pages that are faulted in
// after it; mapped pages stay as they are.
var (
	thp = &Setting{
		Name: "thp", About: "which memory gets transparent huge pages, on the whole host", Values: "always, madvise or never",
		Host: true, Settle: time.Second, Find: hugePages("enabled"), Value: choiceValue, Read: readChoice, Write: writeChoice,
	}
	thpDefrag = &Setting{
		Name: "thp-defrag", About: "whether a page fault compacts memory for a huge page, on the whole host", Values: "always, defer, defer+madvise, madvise or never",
		Host: true, Settle: time.Second, Find: hugePages("defrag"), Value: choiceValue, Read: readChoice, Write: writeChoice,
	}
)

func hugePages(file string) func(context.Context, discover.Target, string) (Place, error) {
	return func(ctx context.Context, t discover.Target, name string) (Place, error) {
		p := Place{Name: name, File: filepath.Join(sysfsPath(), "kernel/mm/transparent_hugepage", file), Affects: "every process of this host"}
		if _, err := readChoice(ctx, p); errors.Is(err, ErrGone) {
			return p, fmt.Errorf("this kernel has no transparent huge pages: %s does not exist", p.File)
		} else if err != nil {
			return p, err
		}
		if off, known := withoutHugePages(t.PID); known && off {
			return p, newUseError("pid %d has transparent huge pages switched off for itself (PR_SET_THP_DISABLE): the host's setting does not reach it", t.PID)
		}
		return p, checkWritable(p.File)
	}
}

// withoutHugePages reads THP_enabled of /proc/PID/status (Linux 5.0 and later).
func withoutHugePages(pid int) (off, known bool) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return false, false
	}
	for line := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(line, "THP_enabled:"); ok {
			return strings.TrimSpace(v) == "0", true
		}
	}
	return false, false
}

// choiceValue returns the typed value if the file lists it.
func choiceValue(_ context.Context, p Place, typed string) (string, error) {
	text, err := readFile(p.File)
	if err != nil {
		return "", err
	}
	var all []string
	for _, word := range strings.Fields(text) {
		word = strings.Trim(word, "[]")
		if word == typed {
			return word, nil
		}
		all = append(all, word)
	}
	return "", newUseError("this kernel has %s", strings.Join(all, ", "))
}

// readChoice returns the value in brackets.
func readChoice(_ context.Context, p Place) (string, error) {
	text, err := readFile(p.File)
	if err != nil {
		return "", err
	}
	if len(strings.Fields(text)) == 1 {
		return strings.Trim(text, "[]"), nil
	}
	_, rest, ok := strings.Cut(text, "[")
	word, _, closed := strings.Cut(rest, "]")
	if !ok || !closed {
		return "", fmt.Errorf("%s is not understood: %.60q", p.File, text)
	}
	return word, nil
}

func writeChoice(_ context.Context, p Place, value string) error { return writeFile(p.File, value) }
