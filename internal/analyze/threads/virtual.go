package threads

import "github.com/unstall/unstall/internal/base/evidence"

// dropRepeated leaves out what looks tell twice. Where a runtime has threads of its own, one file
// shows the system's and another, taken right after it, all: there the system's are once more, by
// the program's numbers. And where such threads serve requests, a look that lacks them says
// nothing of the requests.
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
	out := looks[:0:0]
	for len(looks) > 0 {
		n := burstLength(looks)
		system, all := false, false
		for i := range n {
			l := &looks[i]
			system = system || l.Lane < evidence.LanesOfProgram
			all = all || byProgram(l)
		}
		for _, l := range looks[:n] {
			if system && all && byProgram(&l) || serve && complete && !all {
				continue
			}
			out = append(out, l)
		}
		looks = looks[n:]
	}
	return out
}

// byProgram says whether a look is at a thread of the system by the program's number: it is in
// a file that shows all threads.
func byProgram(l *Sample) bool {
	return l.Lane >= evidence.LanesOfProgram && !l.View.Virtual && l.View.Began >= 0
}

// WaitsUnseen says whether threads of the runtime's own may serve the requests of a process,
// and only those of them were looked at that were on a CPU: what the others wait for nobody
// saw.
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
