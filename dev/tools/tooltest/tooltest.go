// Package tooltest finds the third-party programs that tests run.
package tooltest

import (
	"errors"
	"fmt"
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

var found sync.Map // of a variable: func() result

// Find returns the path of a tool: that of its variable (RUNC, ASYNC_PROFILER, JDK11), else the one that dev/tools/NAME.sh finds
// with these arguments, once in a process and without fetching. Without a tool the test is skipped; it fails if the variable names
// one.
func Find(t testing.TB, name string, args ...string) string {
	t.Helper()
	variable := strings.ToUpper(strings.ReplaceAll(name, "-", "_")) + strings.Join(args, "_")
	once, _ := found.LoadOrStore(variable, sync.OnceValue(func() result {
		if path := os.Getenv(variable); path != "" {
			return namedTool(variable, path)
		}
		return findTool(name, args)
	}))
	r := once.(func() result)()
	if r.err != nil && os.Getenv(variable) != "" {
		t.Fatal(r.err)
	} else if r.err != nil {
		t.Skip(r.err)
	}
	return r.path
}

// namedTool returns the tool that a variable names: a file, a folder or a program on PATH.
func namedTool(variable, path string) result {
	if _, err := os.Stat(path); err == nil {
		return result{path: path}
	}
	program, err := exec.LookPath(path)
	if err != nil {
		err = fmt.Errorf("%s=%s is not there: unset it, or name one", variable, path)
	}
	return result{program, err}
}

func findTool(name string, args []string) result {
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
	cmd := exec.Command("bash", append(append([]string{script}, args...), "find")...)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		lines := strings.Split(strings.TrimSpace(said.String()), "\n")
		err = errors.New(lines[len(lines)-1])
	}
	return result{strings.TrimSpace(string(out)), err}
}
