// Package tooltest finds the programs of others that tests run.
package tooltest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

type result struct {
	path string
	err  error
}

var found sync.Map // of a script's name: func() result

// Find returns the path that dev/tools/NAME.sh finds. It fetches nothing: where there is no such
// program the test is skipped; it fails if the program's variable, the name in capitals, is set.
func Find(t testing.TB, name string) string {
	t.Helper()
	once, _ := found.LoadOrStore(name, sync.OnceValue(func() result { return find(name) }))
	r := once.(func() result)()
	if r.err != nil {
		Miss(t, strings.ToUpper(strings.ReplaceAll(name, "-", "_")), r.err)
	}
	return r.path
}

// Miss skips a test that a program is missing for. It fails the test if the program's variable is set.
func Miss(t testing.TB, variable string, err error) {
	t.Helper()
	if os.Getenv(variable) != "" {
		t.Fatal(err)
	}
	t.Skip(err)
}

func find(name string) result {
	dir, err := os.Getwd()
	script := ""
	for ; err == nil; dir = filepath.Dir(dir) {
		script = filepath.Join(dir, "dev", "tools", name+".sh")
		if _, e := os.Stat(script); e == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			err = errors.New("there is no dev/tools/" + name + ".sh above the working directory")
		}
	}
	if err != nil {
		return result{err: err}
	}
	cmd := exec.Command("bash", script, "find")
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		lines := strings.Split(strings.TrimSpace(said.String()), "\n")
		err = errors.New(lines[len(lines)-1])
	}
	return result{strings.TrimSpace(string(out)), err}
}
