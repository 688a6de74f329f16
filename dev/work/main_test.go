package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Limits of how much more twice the input may take.
const (
	mostWork    = 2.3     // times as many statements
	mostMemory  = 2.6     // times as many bytes: buffers double
	mostOften   = 2.9     // times as often for one statement
	leastOften  = 200_000 // runs of a statement from which it counts: a growing table is seldom copied
	leastMemory = 4 << 20 // bytes
)

// begins are files whose statements begin to run when there is much of something, and why that is still linear.
var begins = map[string]string{
	"nettrace/looks.go":   "beyond maxLooks rows, looks are joined: each time half of the rows become free",
	"nettrace/joining.go": "the same",
}

func beginsLate(at string) bool {
	file, _, _ := strings.Cut(at, ":")
	for name := range begins {
		if strings.HasSuffix(file, name) {
			return true
		}
	}
	return false
}

// TestWork doubles the input of every format. It compares how often statements run, and how much is allocated.
func TestWork(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds all readers with counters")
	}
	t.Chdir(filepath.Join("..", ".."))
	folder := t.TempDir()
	exe := filepath.Join(folder, "work")
	const module = "github.com/unstall/unstall/"
	build := exec.Command("go", "build", "-cover", "-covermode=atomic", "-coverpkg="+module+"internal/format/...,"+module+"internal/base/...,"+module+"dev/work", "-o", exe, "./dev/work")
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	run := exec.Command(exe, folder)
	run.Env = append(os.Environ(), "GOCOVERDIR="+folder)
	var said bytes.Buffer
	run.Stderr = &said
	out, err := run.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, said.String())
	}
	formats := 0
	for lines := json.NewDecoder(bytes.NewReader(out)); lines.More(); formats++ {
		var x twice
		if err := lines.Decode(&x); err != nil {
			t.Fatal(err)
		}
		checkDoubled(t, &x)
	}
	if formats < 40 {
		t.Errorf("only %d formats have an input", formats)
	}
}

func checkDoubled(t *testing.T, x *twice) {
	t.Helper()
	bytes := float64(x.Bytes[1]) / float64(x.Bytes[0]) / 2 // near 1
	if x.Allocated[1] > leastMemory && float64(x.Allocated[1]) > mostMemory*bytes*float64(x.Allocated[0]) {
		t.Errorf("%s: reading %d bytes allocates %d, %d bytes %d", x.Name, x.Bytes[0], x.Allocated[0], x.Bytes[1], x.Allocated[1])
	}
	once, twofold := readCounters(t, x.Counters[0]), readCounters(t, x.Counters[1])
	a, b := sum(once), sum(twofold)
	t.Logf("%-32s %9d statements for %7d bytes, × %.2f for × %.2f; allocated × %.2f", x.Name, a, x.Bytes[0], float64(b)/float64(max(1, a)), 2*bytes, float64(x.Allocated[1])/float64(max(1, x.Allocated[0])))
	if float64(b) > mostWork*bytes*float64(a) && b > leastOften {
		t.Errorf("%s: twice the input runs %.2f times as many statements", x.Name, float64(b)/float64(a))
	}
	for _, at := range slices.Sorted(maps.Keys(twofold)) {
		n := twofold[at]
		if n < leastOften || float64(n) <= mostOften*bytes*float64(once[at]) || beginsLate(at) {
			continue
		}
		t.Errorf("%s: %s runs %d times, and %d times for twice the input", x.Name, at, once[at], n)
	}
}

func sum(counters map[string]int64) (n int64) {
	for _, v := range counters {
		n += v
	}
	return n
}

// readCounters returns how often the statements of each block ran, by file and line.
func readCounters(t *testing.T, folder string) map[string]int64 {
	t.Helper()
	text := folder + ".txt"
	if said, err := exec.Command("go", "tool", "covdata", "textfmt", "-i="+folder, "-o="+text).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	f, err := os.Open(text)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	counters := make(map[string]int64)
	for lines := bufio.NewScanner(f); lines.Scan(); {
		at, counts, ok := strings.Cut(lines.Text(), " ") // file.go:12.34,56.78 3 17
		statements, times, counted := strings.Cut(counts, " ")
		if !ok || !counted {
			continue // mode: atomic
		}
		n, err := strconv.ParseInt(statements, 10, 64)
		k, err2 := strconv.ParseInt(times, 10, 64)
		if err != nil || err2 != nil {
			t.Fatal(fmt.Errorf("%s: %q", text, lines.Text()))
		}
		counters[at] += n * k
	}
	return counters
}
