package hotspot

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/collect/probe/hotspot/attach"
)

// output is one output of a JVM's logging in the form of VM.log list:
//
//	#2: file=/var/log/app/gc.log all=off,gc*=info uptime,level,tags filecount=5,filesize=20480K
//
// https://docs.oracle.com/en/java/javase/21/docs/specs/man/java.html#enable-logging-with-the-jvm-unified-logging-framework
type output struct {
	name   string // "stdout", "file=/var/log/app/gc.log"
	config string // selections, decorators and options
}

// askOutputs asks the JVM for its log outputs.
func (r *recording) askOutputs(ctx context.Context) ([]output, error) {
	text, err := r.vm.Text(ctx, "VM.log list", 1<<20)
	if err != nil {
		return nil, err
	}
	return parseOutputs(text), nil
}

func parseOutputs(text string) (all []output) {
	_, text, _ = strings.Cut(text, "Log output configuration:")
	for line := range strings.Lines(text) {
		number, rest, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok || !strings.HasPrefix(number, "#") {
			continue
		}
		if i := strings.LastIndex(rest, " all="); i >= 0 { // names may have spaces
			all = append(all, output{rest[:i], rest[i+1:]})
		}
	}
	return all
}

// filePath returns the file of an output in the JVM's own form; "" if it is no file.
func (o output) filePath() string {
	name, _ := strings.CutPrefix(o.name, "file=")
	if name == o.name {
		return ""
	}
	return name
}

// detail says which of a JVM's events an output has.
type detail struct {
	gc         bool // collections, a line each
	everything bool // and their phases
	safepoints bool
}

func (o output) parseDetail() (d detail) {
	what, _, _ := strings.Cut(o.config, " ")
	for s := range strings.SplitSeq(what, ",") {
		tags, level, _ := strings.Cut(s, "=")
		tells := level == "info" || level == "debug" || level == "trace"
		switch tags {
		case "all":
			d = detail{tells, tells, tells}
		case "gc*":
			d.gc, d.everything = tells, tells
		case "gc":
			d.gc = tells
		case "safepoint", "safepoint*":
			d.safepoints = tells
		}
	}
	return d
}

// recordedLog returns the user's own output that has collections and is a file recorded as one of the process's open logs.
func recordedLog(vm *attach.VM, all []output) (output, bool) {
	var open []string
	for _, o := range all {
		if !o.parseDetail().gc {
			continue
		}
		if open == nil {
			open = openFiles(vm.PID())
		}
		for _, name := range open {
			if o.writesTo(name, vm) {
				return o, true
			}
		}
	}
	return output{}, false
}

// openFiles returns the regular files a process has open, each with its descriptor: "1 /var/log/app.out".
func openFiles(pid int) (names []string) {
	dir := fmt.Sprintf("/proc/%d/fd/", pid)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return []string{}
	}
	for _, e := range entries {
		fi, err := os.Stat(dir + e.Name())
		if err != nil || !fi.Mode().IsRegular() {
			continue
		}
		if name, err := os.Readlink(dir + e.Name()); err == nil {
			names = append(names, e.Name()+" "+name)
		}
	}
	return names
}

// writesTo says whether an output is an open file, given as its descriptor, a blank and its name. In an output's name %p is the JVM's PID, %t its
// start time, and %hn the host.
func (o output) writesTo(open string, vm *attach.VM) bool {
	fd, name, _ := strings.Cut(open, " ")
	switch o.name {
	case "stdout":
		return fd == "1"
	case "stderr":
		return fd == "2"
	}
	file := o.filePath()
	if file == "" {
		return false
	}
	if !filepath.IsAbs(file) {
		cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", vm.PID()))
		if err != nil {
			return false
		}
		file = filepath.Join(cwd, file)
	}
	pattern := strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "%p", strconv.Itoa(vm.Inner()), "%t", "*", "%hn", "*").Replace(filepath.Clean(file))
	ok, _ := path.Match(pattern, name)
	return ok
}
