package runtime

import (
	"bufio"
	"io"
	"path"
	"strings"

	"github.com/unstall/unstall/discover"
	"github.com/unstall/unstall/model"
	"github.com/unstall/unstall/model/younggen"
	"github.com/unstall/unstall/probe/hotspot/attach"
	"github.com/unstall/unstall/reading"
	"github.com/unstall/unstall/threads"
	"github.com/unstall/unstall/top"
)

// JVM is a Java virtual machine: HotSpot and what is built from it
// (https://openjdk.org/groups/hotspot).
var JVM = &Runtime{
	ID:            "jvm",
	Title:         "JVM",
	Versioned:     "Java",
	Lane:          "thread",
	Launchers:     []string{"java"},
	Hosts:         true,
	States:        looksAtThreads,
	Requests:      measured,
	Settings:      "JAVA_TOOL_OPTIONS and the like",
	Reasons:       true,
	Records:       true,
	Dump:          "jstack",
	Stacks:        &threads.JVMStacks,
	Counters:      &top.JVM,
	ReadCollector: reading.JVMCollector,
	Models:        []*model.Model{younggen.Model},
	Recognise: &discover.Recogniser{
		Traces:  discover.Process.Hotspot,
		Library: "libjvm.so",
		Version: releaseVersion,
		Way: func(p discover.Process, _ []discover.Listener) string {
			if p.Ours() {
				if _, err := attach.Find(p.PID()); err == nil {
					return "attach"
				}
			}
			return ""
		},
	},
}

// looksAtThreads shows the states of requests that run on threads.
var looksAtThreads = Evidence{"a recording of requests and their threads", "unstall record PID"}

// releaseVersion reads JAVA_VERSION from the file "release" of a JDK or JRE,
// which is above its lib/server/libjvm.so, up to 1.8 lib/amd64/server.
func releaseVersion(p discover.Process, library string) string {
	dir := path.Dir(library)
	for range 4 {
		dir = path.Dir(dir)
		f, err := p.Open(path.Join(dir, "release"))
		if err != nil {
			continue
		}
		defer f.Close()
		const page = 1 << 20 // more than any has
		for lines := bufio.NewScanner(io.LimitReader(f, page)); lines.Scan(); {
			if v, ok := strings.CutPrefix(lines.Text(), "JAVA_VERSION="); ok {
				return strings.Trim(v, `"`)
			}
		}
		return ""
	}
	return ""
}
