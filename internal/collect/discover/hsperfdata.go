package discover

import (
	"io"
	"path"
	"strings"

	"github.com/unstall/unstall/internal/base/hsperf"
)

// parseHsperfdata takes out of a JVM's counters what is used here; of the main class its name
// without the package.
func parseHsperfdata(r io.Reader) (Seen, error) {
	d, err := hsperf.Parse(r)
	return Seen{Version: d.Text("java.property.java.version"), Main: mainOf(d.Text("sun.rt.javaCommand"))}, err
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
