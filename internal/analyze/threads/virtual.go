package threads

import "github.com/unstall/unstall/internal/base/evidence"

// dropRepeated removes looks that repeat others. If a runtime has threads of its own, one file shows the OS threads and another, taken
// right after it, shows all: the OS threads appear there again, with the program's numbers. And where the runtime's threads serve requests,
// a look without them says nothing of the requests.
func dropRepeated(looks []Sample) []Sample {
	serve, own, others, complete := false, false, false, false
	for i := range looks {
		l := &looks[i]
		v := &l.View
		serve = serve || v.Virtual && v.Request
		own = own || v.Virtual && v.User >= 0 && !v.Library
		others = others || !v.Virtual && v.Request
		complete = complete || byProgram(l)
	}
	serve = serve || own && !others // on a server of the program's own nothing tells requests yet
	if !complete {
		return looks // nothing is removed without a look that shows all threads
	}
	out := make([]Sample, 0, len(looks))
	for len(looks) > 0 {
		n := burstLength(looks)
		system, all := false, false
		for i := range n {
			l := &looks[i]
			system = system || l.Lane < evidence.LanesOfProgram
			all = all || byProgram(l)
		}
		for i := range n {
			if system && all && byProgram(&looks[i]) || serve && !all {
				continue
			}
			out = append(out, looks[i])
		}
		looks = looks[n:]
	}
	return out
}

// byProgram reports whether a look shows an OS thread by the program's number: it is in a file that shows all threads.
func byProgram(l *Sample) bool {
	return l.Lane >= evidence.LanesOfProgram && !l.View.Virtual && l.View.Began >= 0
}

// WaitsUnseen reports whether the runtime's own threads may serve a process's requests while looks show only those on a CPU: then the waits
// of the others are unknown.
func (t *Threads) WaitsUnseen(s evidence.SubjectID) bool { return t.unseen[s] }

// onlyRunning looks whether there are such threads, of which no look shows all, where no thread
// of the system serves requests.
func onlyRunning(looks []Sample, complete bool) bool {
	some := false
	for i := range looks {
		v := &looks[i].View
		if v.Request && !v.Virtual {
			return false
		}
		some = some || v.Carrier || v.Virtual && v.User >= 0
	}
	return some && !complete
}
