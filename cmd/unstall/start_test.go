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
	// largest is the maximum size of the program with its symbols, in bytes. What people get has none, and at most 64 MB: dev/release.
	largest = 69_000_000
	// mostAtStart is how much packages may allocate before main begins, in bytes. Expressions and templates that
	// only some commands use are made when they are first used.
	mostAtStart = 1_600_000
)

// TestStart bounds the size of the program and its work before main.
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

// TestInstall checks that go install PACKAGE@VERSION accepts the module. It refuses a module with replace directives.
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
