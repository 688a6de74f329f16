package main

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/collect/record"
	"github.com/unstall/unstall/internal/diagnose"
)

// pid matches the placeholder of a process in a command, and unstallCommand a command of unstall with it.
var (
	pid            = regexp.MustCompile(`\bPID\b`)
	unstallCommand = regexp.MustCompile(`\b(unstall(?: record)?) PID\b`)
)

// fillRemoteCommands fills in the only target if it is on another host. It puts the target's address into unstall commands, and its PID
// into commands that run on that host.
func fillRemoteCommands(d *diagnose.Diagnosis, a *away) {
	if a == nil || len(a.targets) != 1 {
		return
	}
	for i := range d.Verdicts {
		for k := range d.Verdicts[i].Needs {
			n := &d.Verdicts[i].Needs[k]
			n.Command = unstallCommand.ReplaceAllString(n.Command, "$1 "+strings.ReplaceAll(quoteArg(targetNames(nil, a)[0]), "$", "$$"))
			if _, err := strconv.Atoi(a.targets[0]); err == nil {
				n.Command = pid.ReplaceAllString(n.Command, a.targets[0])
			}
		}
	}
}

// fillCommands puts the address and the PID of the one recorded target into the commands of a diagnosis, so that they can be pasted.
func fillCommands(d *diagnose.Diagnosis, f record.Finding) {
	if len(f.Targets) != 1 {
		return
	}
	var words []string
	for _, a := range f.Accesses {
		if a.Probe == "gopprof" && a.Missing == nil && len(a.SwitchesOn) > 0 {
			words = curlReplacements(a)
		}
	}
	address := strings.NewReplacer(words...)
	for i := range d.Verdicts {
		v := &d.Verdicts[i]
		for k := range v.Needs {
			n := &v.Needs[k]
			n.Command = address.Replace(n.Command)
			if t := f.Targets[0]; t.PID != 0 {
				n.Command = pid.ReplaceAllString(n.Command, strconv.Itoa(t.PID))
			}
		}
		for k := range v.Fix {
			v.Fix[k].Code = address.Replace(v.Fix[k].Code)
		}
	}
}

// curlReplacements returns the replacements of HOST:PORT in curl commands, as pairs of old and new.
func curlReplacements(a probe.Access) []string {
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
