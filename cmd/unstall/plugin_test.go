package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestPlugged(t *testing.T) {
	for _, c := range []struct {
		program    string
		args, want []string
	}{
		{"/usr/bin/unstall", []string{"pod/shop"}, []string{"pod/shop"}},
		{"/home/u/.krew/bin/kubectl-unstall", []string{"pod/shop"}, []string{"debug", "pod/shop"}},
		{"kubectl-unstall", []string{"pod/shop", "--run"}, []string{"debug", "pod/shop", "--run"}},
		{"kubectl-unstall", []string{"debug", "pod/shop"}, []string{"debug", "pod/shop"}},
		{"kubectl-unstall", []string{"version"}, []string{"version"}},
		{"kubectl-unstall", nil, []string{"debug", "--help"}},
	} {
		if got := kubectlArgs(c.program, c.args); !slices.Equal(got, c.want) {
			t.Errorf("%s %q: %q, want %q", c.program, c.args, got, c.want)
		}
	}
}

// kubectl finds unstall as its plugin, and runs it.
func TestKubectlRunsIt(t *testing.T) {
	kubectl, err := exec.LookPath("kubectl")
	if err != nil {
		t.Skip("no kubectl")
	}
	self, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(self, filepath.Join(dir, "kubectl-unstall")); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(kubectl, "unstall", "--help")
	c.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
	out, err := c.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "pod/NAMESPACE/NAME/CONTAINER") {
		t.Errorf("%v: %s", err, out)
	}
}
