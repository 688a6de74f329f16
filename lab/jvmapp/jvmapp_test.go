package jvmapp

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const echo = `
public class App {
    public static void main(String[] args) throws Exception {
        Host.say(System.getProperty("java.specification.version") + " " + System.getProperty("told"));
        Host.say("heard " + Host.next());
    }
}`

func TestStart(t *testing.T) {
	for _, major := range []int{11, 17, 25} {
		t.Run(strconv.Itoa(major), func(t *testing.T) {
			a := Start(t, major, echo, "-Xmx32m", "-Dtold=true")
			if got, want := a.Line(t), strconv.Itoa(major)+" true"; got != want {
				t.Errorf("it said %q, want %q", got, want)
			}
			a.Send(t, "something")
			if got := a.Line(t); got != "heard something" {
				t.Errorf("it said %q", got)
			}
			proc := filepath.Join("/proc", strconv.Itoa(a.PID))
			command, err := os.ReadFile(filepath.Join(proc, "cmdline"))
			if err != nil || !strings.Contains(string(command), "\x00-Xmx32m\x00") {
				t.Errorf("process %d is %q, %v", a.PID, command, err)
			}
			if err := a.Stop(); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(proc); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("it still runs: %v", err)
			}
		})
	}
}
