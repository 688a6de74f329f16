package main

import (
	"fmt"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/unstall/unstall/lab/build"
	"github.com/unstall/unstall/lab/jvmapp"
)

const scriptJVM = 17

// canStartJVM says whether scripts can start a JVM. If JDK17 is set, they must.
func canStartJVM(t *testing.T) bool {
	say := func(string) {}
	_, err := build.FindJDK(t.Context(), scriptJVM, false, say)
	if err == nil {
		_, err = build.FindJavac(t.Context(), false, say)
	}
	return err == nil || os.Getenv(fmt.Sprintf("JDK%d", scriptJVM)) != ""
}

// allocating is the source of a program that allocates, so that GC runs now and then.
const allocating = `
public class App {
	static volatile Object sink;
	public static void main(String[] args) throws Exception {
		Thread t = new Thread(() -> {
			try {
				while (true) { sink = new byte[400_000]; Thread.sleep(1); }
			} catch (InterruptedException e) { }
		}, "allocator");
		t.setDaemon(true);
		t.start();
		Host.say("busy");
	}
}`

// startJVM starts a JVM that lives until the tests end, and puts its PID into a variable: jvm PID -Xmx32m
func startJVM(t *testing.T, ts *testscript.TestScript, args []string) {
	a := jvmapp.Start(t, scriptJVM, allocating, args[1:]...)
	a.Line(t)
	ts.Setenv(args[0], fmt.Sprint(a.PID))
}
