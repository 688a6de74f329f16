package perfreport

import (
	"strconv"

	"github.com/unstall/unstall/internal/base/evidence"
)

// runtimeLocks are prefixes of the functions in which a runtime enters a monitor that another thread has: it spins before it waits. The fast way in, which
// code takes at a free monitor, is compiled into that code or has another name.
var runtimeLocks = []struct {
	runtime string
	begins  []string
}{
	{"dotnet", []string{"Object::EnterObjMonitorHelperSpin", "ObjHeader::EnterObjMonitorHelperSpin", "AwareLock::", "JITutil_MonContention", "JITutil_MonReliableContention", "JIT_MonEnterWorker_Slow", "JIT_MonContention",
		"[System.Private.CoreLib] System.Threading.Monitor::Enter_Slowpath", "[System.Private.CoreLib] System.Threading.Lock::TryEnterSlow"}},
	{"jvm", []string{"ObjectMonitor::TrySpin", "ObjectMonitor::try_spin", "ObjectMonitor::EnterI", "ObjectMonitor::enter", "ObjectMonitor::TryLock"}},
}

// emitLocks writes each runtime's part of the samples in entering monitors that others have.
func emitLocks(b *evidence.Builder, rows []row) {
	for _, k := range runtimeLocks {
		part, most := 0., -1
		for i := range rows {
			if r := &rows[i]; !r.kernel && hasAnyPrefix(r.function, k.begins) {
				if part += r.self; most < 0 || r.self > rows[most].self {
					most = i
				}
			}
		}
		if part > 0 {
			subject := b.Subject(evidence.Subject{Kind: evidence.Process, Runtime: k.runtime})
			b.FactAt(subject, evidence.FactProfileLocks, strconv.FormatFloat(part, 'g', 4, 64), min(1, part), rows[most].line)
		}
	}
}
