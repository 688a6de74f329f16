package main

import (
	"strconv"
	"strings"

	"github.com/unstall/unstall/diagnose"
	"github.com/unstall/unstall/probe"
	"github.com/unstall/unstall/record"
)

// What stands for commands that only a Go process answers.
const (
	notTold  = "only processes of Go, .NET and the JVM tell that of themselves so far"
	notHeard = "its diagnostics socket tells that, once unstall may use it"
	notAsked = "its thread dumps tell that, once unstall may attach to it"
)

// pasteable puts the address and the process id of the one target that was
// recorded into the commands of a diagnosis, so that they work as they are.
func pasteable(d *diagnose.Diagnosis, f record.Finding) {
	if len(f.Targets) != 1 {
		return
	}
	t := f.Targets[0]
	var words []string
	for _, a := range f.Accesses {
		if a.Probe == "gopprof" && a.Missing == nil && len(a.SwitchesOn) > 0 {
			words = curl(a)
		}
	}
	if t.PID != 0 {
		words = append(words, "/proc/PID/", "/proc/"+strconv.Itoa(t.PID)+"/", "unstall PID", "unstall "+strconv.Itoa(t.PID))
	}
	fill := strings.NewReplacer(words...)
	for i := range d.Verdicts {
		v := &d.Verdicts[i]
		for k, need := range v.Needs {
			if v.Needs[k] = fill.Replace(need); t.Runtime != "" && t.Runtime != "go" && strings.Contains(need, "HOST:PORT/debug/pprof") {
				switch v.Needs[k] = notTold; t.Runtime {
				case "dotnet":
					v.Needs[k] = notHeard
				case "jvm":
					v.Needs[k] = notAsked
				}
			}
		}
		for k := range v.Fix {
			v.Fix[k].Code = fill.Replace(v.Fix[k].Code)
		}
	}
}

// curl is what commands have instead of HOST:PORT, in pairs.
func curl(a probe.Access) []string {
	if path, ok := strings.CutPrefix(a.Where, "unix:"); ok {
		socket := strings.TrimSuffix(path, "/debug/pprof")
		if name, abstract := strings.CutPrefix(socket, "@"); abstract {
			return []string{"curl ", "curl --abstract-unix-socket '" + name + "' ", "HOST:PORT", "localhost"}
		}
		return []string{"curl ", "curl --unix-socket '" + socket + "' ", "HOST:PORT", "localhost"}
	}
	words := []string{"http://HOST:PORT/debug/pprof", a.Where}
	if strings.HasPrefix(a.Where, "https://") {
		words = append(words, "curl ", "curl -k ")
	}
	return words
}
