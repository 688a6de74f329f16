package gostack

import "strings"

// Reasons for which the runtime parks a goroutine, in its own words (runtime/runtime2.go: waitReasonStrings), as [ParkedFor] returns them.
const (
	ParkedForReceive   = "chan receive"
	ParkedForSend      = "chan send"
	ParkedForSelect    = "select"
	ParkedForCondition = "sync.Cond.Wait"
	ParkedForOthers    = "sync.WaitGroup.Wait"
	ParkedForTimer     = "sleep"
	ParkedForNetwork   = "IO wait"
	ParkedForAssist    = "GC assist wait"
)

// parks are the functions in which the runtime parks a goroutine, without those that [WaitOf] knows.
var parks = []struct{ prefix, reason string }{
	{"runtime.chanrecv", ParkedForReceive},
	{"runtime.chansend", ParkedForSend},
	{"runtime.selectgo", ParkedForSelect},
	{"runtime.block", ParkedForSelect},
	{"sync.runtime_notifyListWait", ParkedForCondition},
	{"sync.(*WaitGroup).Wait", ParkedForOthers},
	{"time.Sleep", ParkedForTimer},
	{"runtime.netpollblock", ParkedForNetwork},
	{"internal/poll.runtime_pollWait", ParkedForNetwork},
	{"runtime.gcParkAssist", ParkedForAssist},
	{"runtime.gcAssistAlloc", ParkedForAssist},
}

// ParkedFor returns why a goroutine is parked, by the functions of the runtime on its stack, innermost first; "" where they do not say it.
func ParkedFor(funcs []string) string {
	for _, f := range funcs {
		for _, p := range parks {
			if strings.HasPrefix(f, p.prefix) {
				return p.reason
			}
		}
		if IsOutside(f) {
			break
		}
	}
	return ""
}

// Place returns the innermost function outside the runtime and the packages that wait for it; "" where there is none.
func Place(funcs []string) string {
	for _, f := range funcs {
		if IsOutside(f) {
			return f
		}
	}
	return ""
}

// IsOutside says whether a function is neither the runtime's nor of a package in which goroutines wait.
func IsOutside(f string) bool {
	return !strings.HasPrefix(f, "runtime.") && !strings.HasPrefix(f, "sync.") && !strings.HasPrefix(f, "internal/") && !strings.HasPrefix(f, "time.")
}
