package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/unstall/unstall/dev/schema"
	"github.com/unstall/unstall/internal/collect/capture"
)

func TestMain(m *testing.M) {
	commands := map[string]func(){"unstall": main, "kubectl-unstall": main, "serve": serve, "touch": touch, "confine": confine}
	if commands[filepath.Base(os.Args[0])] == nil { // this process runs the tests, and is no command of a script
		beNice = func() {}
	}
	testscript.Main(m, commands)
}

func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("LC_ALL", "C.UTF-8")
			e.Setenv("TMPDIR", e.WorkDir)
			return nil
		},
		Condition: func(c string) (bool, error) {
			switch c {
			case "root":
				return os.Geteuid() == 0, nil
			case "jvm":
				return canStartJVM(t), nil
			}
			return false, nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":     exits,
			"gzip":      compress,
			"head":      head,
			"described": described,
			"server":    startServer,
			"end":       end,
			"holds":     holds,
			"capture": func(ts *testscript.TestScript, _ bool, args []string) {
				writeCapture(ts, args)
			},
			"jvm": func(ts *testscript.TestScript, _ bool, args []string) { startJVM(t, ts, args) },
			"elf": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte("\x7fELF\x02\x01\x01\x00\x00"), 0o644))
			},
		},
	})
}

// exits runs unstall and requires its exit code: exits 3 unstall file…
func exits(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if err != nil {
		got = err.Error() // "exit status 3"
	}
	if want := args[0]; got != "exit status "+want && got != want {
		ts.Fatalf("%v: %s, want exit status %s", args[1:], got, want)
	}
}

// described requires that a JSON document follows its schema and has no other keys: described stdout
func described(ts *testscript.TestScript, _ bool, args []string) {
	if err := schema.Holds("../..", []byte(ts.ReadFile(args[0])), true); err != nil {
		ts.Fatalf("%s: %v", args[0], err)
	}
}

// compress writes a gzip file, cut after a percentage of its bytes: gzip FROM TO 60
func compress(ts *testscript.TestScript, _ bool, args []string) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := io.WriteString(w, ts.ReadFile(args[0]))
	ts.Check(err)
	ts.Check(w.Close())
	data := b.Bytes()
	if len(args) > 2 {
		data = data[:len(data)*int(args[2][0]-'0')/10]
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), data, 0o644))
}

// head writes the first bytes of a file to another: head FROM TO 100
func head(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[2])
	ts.Check(err)
	text := ts.ReadFile(args[0])
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text[:min(n, len(text))]), 0o644))
}

// writeCapture makes a capture of files, whole or without its last bytes: capture TO 2048 FILE…
func writeCapture(ts *testscript.TestScript, args []string) {
	path := ts.MkAbs(args[0])
	w, err := capture.Create(path, capture.Info{Tool: "test", Start: time.Unix(1e9, 0)})
	ts.Check(err)
	for _, name := range args[2:] {
		a, err := w.Create(capture.Meta{Name: name, Lines: true})
		ts.Check(err)
		_, err = io.WriteString(a, ts.ReadFile(name))
		ts.Check(err)
		ts.Check(a.Close())
	}
	ts.Check(w.Close())
	less, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	fi, err := os.Stat(path)
	ts.Check(err)
	ts.Check(os.Truncate(path, fi.Size()-less))
}
