package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const (
	// largest is how large the program may be with its symbols, bytes.
	largest = 64_000_000
	// mostAtStart is what packages may allocate before main begins, bytes: expressions and templates
	// that only some commands need are made when they are needed.
	mostAtStart = 1_600_000
)

// TestStart holds how large the program is and how much it does before it begins.
func TestStart(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "unstall")
	if text, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	fi, err := os.Stat(bin)
	if err != nil {
		t.Fatal(err)
	}
	if fi.Size() > largest {
		t.Errorf("the program has %d bytes, at most %d", fi.Size(), largest)
	}
	c := exec.Command(bin, "version")
	c.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	text, err := c.CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	// init internal/bytealg @0.008 ms, 0 ms clock, 0 bytes, 0 allocs
	all, packages := 0, 0
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) != 11 || f[0] != "init" {
			continue
		}
		n, err := strconv.Atoi(f[7])
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all, packages = all+n, packages+1
	}
	if packages < 50 || all > mostAtStart {
		t.Errorf("%d packages allocate %d bytes before main, at most %d", packages, all, mostAtStart)
	}
	t.Logf("%d bytes; %d packages allocate %d bytes before main", fi.Size(), packages, all)
}

// TestInstall checks that go install PACKAGE@VERSION takes the module: it refuses one that replaces others.
func TestInstall(t *testing.T) {
	text, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if word, _, _ := strings.Cut(line, " "); word == "replace" || word == "exclude" {
			t.Errorf("go.mod: %s", strings.TrimSpace(line))
		}
	}
}
