package discover

import (
	"io"
	"path"
	"strings"

	"github.com/unstall/unstall/hsperf"
)

// jvm is what is used of a JVM's counters.
type jvm struct {
	version string // "17.0.15"
	main    string // main class without its package, or jar file; "" unknown
}

func parseHsperfdata(r io.Reader) (jvm, error) {
	d, err := hsperf.Parse(r)
	return jvm{version: d.Text("java.property.java.version"), main: mainOf(d.Text("sun.rt.javaCommand"))}, err
}

// mainOf takes the program out of a command, "com.example.Main --port 80" or
// "/srv/app.jar …", and leaves its arguments out: they may be secrets.
func mainOf(command string) string {
	first, _, _ := strings.Cut(command, " ")
	first = path.Base(first) // of a module and a class, too
	if strings.HasSuffix(first, ".jar") {
		return first
	}
	if first == "." || first == "/" {
		return ""
	}
	return first[strings.LastIndexByte(first, '.')+1:]
}
