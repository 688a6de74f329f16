package main

import (
	"net/netip"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/present/text"
)

var running = []discover.Found{
	{Target: discover.Target{PID: 4711, Name: "gateway", Runtime: "go", Version: "go1.26.8", User: "app", Listens: []discover.Listener{
		{Addr: netip.MustParseAddrPort("0.0.0.0:8080")}, {Addr: netip.MustParseAddrPort("[::]:8080")}, {Addr: netip.MustParseAddrPort("127.0.0.1:6060")}}},
		CPU: 1.2, RSS: 107 << 20, Reads: []string{"pprof", "/proc", "environment"}, Next: "unstall 4711"},
	{Target: discover.Target{PID: 12, Name: "java\x1b[2J", Main: "Gateway", Runtime: "jvm", Version: "17.0.15", User: "tomcat", Needs: "root or user tomcat",
		Listens: []discover.Listener{{Path: "/run/app.sock"}}}, RSS: 2 << 30, Reads: []string{"/proc"}, Next: "unstall 12"},
}

func TestListing(t *testing.T) {
	const wide = `PID   NAME              RUNTIME      USER     CPU      RSS  LISTENS               CAN READ                   NEXT
4711  gateway           go1.26.8     app     1.20  107 MiB  :8080 127.0.0.1:6060  pprof, /proc, environment  unstall 4711
12    java?[2J Gateway  JVM 17.0.15  tomcat  0.00    2 GiB  app.sock              /proc                      unstall 12
`
	got := formatListing(running, text.Options{Width: 130}, true)
	if !strings.HasPrefix(got, wide) {
		t.Errorf("130 columns:\n%s", got)
	}
	for _, want := range []string{"\nneeds root or user tomcat: environment, open files and I/O of 12\n", "\nunstall 4711      find why", "\nunstall FILE...   "} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "sudo") || !strings.Contains(formatListing(running, text.Options{Width: 80}, false), "root also sees the processes") {
		t.Error("what root adds is said to others than root")
	}
	for _, width := range []int{80, 60, 40} {
		for _, line := range layOutTable(running, text.Options{Width: width}) {
			if utf8.RuneCountInString(line) > width {
				t.Errorf("%d columns: %q", width, line)
			}
		}
	}
	if head := layOutTable(running, text.Options{Width: 80})[0]; strings.Join(strings.Fields(head), " ") != "PID NAME RUNTIME CPU RSS LISTENS CAN READ" {
		t.Errorf("80 columns: %s", head)
	}
	if got := formatListing(nil, text.Options{Width: 80}, false); !strings.HasPrefix(got, "No process here") || !strings.Contains(got, "sudo unstall") || !strings.Contains(got, usage) {
		t.Errorf("nothing runs:\n%s", got)
	}
}

// The name of the program in a process is shown once, also if the process has that name.
func TestProgramName(t *testing.T) {
	for want, x := range map[string]discover.Target{
		"java Gateway": {Name: "java", Main: "Gateway", Runtime: "jvm"}, "shop.jar": {Name: "shop.jar", Main: "shop.jar", Runtime: "jvm"},
		"Gateway": {Name: "Gateway", Main: "gateway", Runtime: "jvm"}, "gateway": {Name: "gateway", Main: "example.com/gateway", Runtime: "go"}, "python3": {Name: "python3"},
	} {
		if got := programName(discover.Found{Target: x}); got != want {
			t.Errorf("%+v: %q, want %q", x, got, want)
		}
	}
}
