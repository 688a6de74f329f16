// Package jvmapp compiles and starts small Java programs for tests that need a live
// JVM.
package jvmapp

import (
	"context"
	_ "embed"
	"path/filepath"
	"strconv"
	"testing"
	"testing/fstest"

	"github.com/unstall/unstall/dev/tools/tooltest"
	"github.com/unstall/unstall/lab/build"
	"github.com/unstall/unstall/lab/process"
)

//go:embed host/Host.java
var host []byte

// release is the Java release of the programs: every JDK here runs it.
const release = 11

// App is a running JVM.
type App struct {
	PID  int
	Home string // of its JDK: bin/java, bin/jcmd, bin/jfr

	process *process.Process
	ended   bool
}

// Home returns the home of a JDK of a major version. Without one the test is
// skipped; it fails if $JDK11 ($JDK17, …) names one.
func Home(t testing.TB, major int) string {
	t.Helper()
	return tooltest.Find(t, "jdk", strconv.Itoa(major))
}

// Classes compiles one source, a class App in no package, for Java 11, together with the host
// that runs it, and returns the folder of the classes: java -cp CLASSES Host. Without a
// javac the test is skipped; it fails if $JAVAC names one.
func Classes(t testing.TB, source string) string {
	t.Helper()
	javac := tooltest.Find(t, "javac")
	sources := fstest.MapFS{"Host.java": {Data: host}, "App.java": {Data: []byte(source)}}
	classes, err := build.Java(t.Context(), javac, "jvmapp", sources, nil, release, func(text string) { t.Log(text) })
	if err != nil {
		t.Fatal(err)
	}
	return classes
}

// Start compiles a program and starts it on a JDK of a major version, with only the given
// arguments for the JVM; it ends with the test. The program is a class App in no package,
// written in Java 11, with a main; the JVM lives on when main returns. The program may
// send lines to the test with Host.say(line), see [App.Line], and wait for lines of the
// test with Host.next(), see [App.Send]. Start returns when main is about
// to run.
func Start(t testing.TB, major int, source string, jvmArgs ...string) *App {
	t.Helper()
	return StartEnv(t, major, source, nil, jvmArgs...)
}

// StartEnv is [Start] with more environment variables.
func StartEnv(t testing.TB, major int, source string, env []string, jvmArgs ...string) *App {
	t.Helper()
	home := Home(t, major)
	args := append(append([]string{}, jvmArgs...), "-cp", Classes(t, source), "Host")
	var said struct{ PID int }
	// Not with the test's context: a JVM that is killed leaves its performance data behind.
	p, err := process.Start(context.Background(), filepath.Join(home, "bin", "java"), args, env, filepath.Join(t.TempDir(), "stderr"), &said)
	if err != nil {
		t.Fatal(err)
	}
	a := &App{PID: p.PID, Home: home, process: p}
	t.Cleanup(func() { a.Stop() })
	return a
}

// Line waits for the next line that the program sends with Host.say.
func (a *App) Line(t testing.TB) string {
	t.Helper()
	line, err := a.process.Line()
	if err != nil {
		t.Fatalf("the JVM said nothing more: %v", err)
	}
	return line
}

// Send sends the program a line, which Host.next returns there.
func (a *App) Send(t testing.TB, line string) {
	t.Helper()
	if err := a.process.Send(line); err != nil {
		t.Fatal(err)
	}
}

// Stop ends the JVM before the test ends. When Stop returns, the JVM has exited and closed
// its logs.
func (a *App) Stop() error {
	if a.ended {
		return nil
	}
	a.ended = true
	return a.process.Stop()
}
