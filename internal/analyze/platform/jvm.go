package platform

import (
	"bufio"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/model"
	"github.com/unstall/unstall/internal/analyze/model/younggen"
	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe/hotspot/attach"
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
	Settings:      "JAVA_TOOL_OPTIONS and similar settings",
	FewerCPUs:     "-XX:ActiveProcessorCount=%.0f",
	FewerCPUsBy:   "the JVM sizes GC and pools of threads by it, and since 8u191 sees most quotas itself",
	Reasons:       true,
	Records:       true,
	Dump:          "jstack",
	Stacks:        &threads.JVMStacks,
	Watchables:    metrics.WatchablesOfJVM,
	ReadCollector: metrics.JVMCollector,
	HugePages:     jvmHugePages,
	Models:        []*model.Model{younggen.Model},
	Built:         discover.ReleaseOfJar,
	Recognise: &discover.Recogniser{
		Traces:  discover.Process.Hotspot,
		Program: launchedByJava,
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

// launchedByJava is what a command line of java runs, as jps names it: the main class
// without its package, the module's, or the jar; "" where an
// @argfile hides it. The launcher's options with a value of their own are those of
// https://docs.oracle.com/en/java/javase/25/docs/specs/man/java.html
func launchedByJava(args []string) string {
	for i := 1; i < len(args); i++ {
		switch option := args[i]; {
		case option == "-jar" && i+1 < len(args):
			return path.Base(args[i+1])
		case (option == "-m" || option == "--module") && i+1 < len(args):
			return mainClass(args[i+1])
		case strings.HasPrefix(option, "--module="):
			return mainClass(option)
		case option == "-cp" || option == "-classpath" || option == "-p" || option == "-d",
			strings.HasPrefix(option, "--") && !strings.Contains(option, "=") && !slices.Contains(plainJavaOptions, option):
			i++
		case strings.HasPrefix(option, "-") || strings.HasPrefix(option, "@") || option == "":
		default:
			return mainClass(option)
		}
	}
	return ""
}

// plainJavaOptions are those that begin with -- and have no value.
var plainJavaOptions = []string{"--enable-preview", "--dry-run", "--validate-modules", "--list-modules", "--show-version", "--show-module-resolution", "--disable-@files"}

// mainClass is the class's name at the end of shop/org.shop.Main, org.shop.Main or
// org/shop/Main, or that of a source file that is run as it is.
func mainClass(word string) string {
	word = strings.TrimSuffix(path.Base(word), ".java")
	return word[strings.LastIndexByte(word, '.')+1:]
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

// jvmHugePages is what a JVM that asks for huge pages can do itself.
func jvmHugePages(h HugePages) string {
	if !h.Asks {
		return ""
	}
	return "this JVM asks for huge pages for its heap (-XX:+UseTransparentHugePages): touch the heap at the start (-Xms equal to -Xmx with -XX:+AlwaysPreTouch), so that they are made only once"
}
