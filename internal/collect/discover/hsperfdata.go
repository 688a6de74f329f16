package discover

import (
	"io"
	"path"
	"strings"

	"github.com/unstall/unstall/internal/base/hsperf"
)

// parseHsperfdata takes the used values from a JVM's counters. It takes the name of the main class without the package.
func parseHsperfdata(r io.Reader) (Seen, error) {
	d, err := hsperf.Parse(r)
	return Seen{Version: d.Text("java.property.java.version"), Main: mainOf(d.Text("sun.rt.javaCommand"))}, err
}

// mainOf returns the program in a command such as "com.example.Main --port 80" or "/srv/app.jar …". It leaves out the arguments,
// which may be secrets.
func mainOf(command string) string {
	first, _, _ := strings.Cut(command, " ")
	first = path.Base(first) // also of a module and a class
	if strings.HasSuffix(first, ".jar") {
		return first
	}
	if first == "." || first == "/" {
		return ""
	}
	return first[strings.LastIndexByte(first, '.')+1:]
}
