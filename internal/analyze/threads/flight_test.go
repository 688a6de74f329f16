package threads

import (
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// A dump shows of virtual threads only who carries one. A flight recording of the same time shows who waits: it stands for
// the dumps that lack them, as long as it goes on, and not before.
func TestFillGaps(t *testing.T) {
	const virtual = evidence.LanesOfProgram + 7
	carrier := []string{"jdk.internal.vm.Continuation.run", "java.lang.VirtualThread.runContinuation", "java.util.concurrent.ForkJoinWorkerThread.run", "[ForkJoinPool-1-worker]"}
	request := []string{"java.net.Socket$SocketInputStream.read", "mill.Miller.ask", "com.sun.net.httpserver.Filter$Chain.doFilter", "java.lang.VirtualThread.run"}
	other := []string{"java.net.Socket$SocketInputStream.read", "mill.Miller.ask", "mill.Main.main", "java.lang.Thread.run"}
	all := append([]string{"java.lang.Object.wait"}, other...)
	for name, test := range map[string]struct {
		flight   []string
		complete bool // dumps show all threads
		dumps    int  // of three that are kept
		waits    int  // looks at the virtual thread
	}{
		"requests wait":       {request, false, 1, 2},
		"others wait":         {other, false, 3, 0},
		"dumps show it all":   {request, true, 3, 0},
		"nothing is recorded": {nil, false, 3, 0},
	} {
		r := jvm()
		for _, at := range []int64{1e9, 4e9, 5e9} {
			r.look(21, at, carrier)
			if test.complete {
				r.look(evidence.LanesOfProgram+1, at, all)
			}
		}
		typ, unit := r.p.Name(evidence.SampleFlight), r.p.Name("count")
		for _, at := range []int64{3e9, 6e9} {
			if test.flight != nil {
				r.p.Sample(evidence.Sample{Subject: r.subject, Time: at, Lane: virtual, Stack: r.stack(test.flight), Type: typ, Unit: unit, Value: 1})
			}
		}
		x := r.threads()
		dumps, waits := 0, 0
		for _, l := range x.Samples(r.subject) {
			switch {
			case l.Lane == 21:
				dumps++
			case l.Lane == virtual:
				waits++
				if l.View.State != evidence.NetWait || !l.View.Request || !l.View.Virtual {
					t.Errorf("%s: %+v", name, l.View)
				}
			}
		}
		if dumps != test.dumps || waits != test.waits {
			t.Errorf("%s: %d dumps and %d waits, want %d and %d", name, dumps, waits, test.dumps, test.waits)
		}
		if unseen := x.WaitsUnseen(r.subject); unseen == test.complete {
			t.Errorf("%s: waits unseen %v", name, unseen)
		}
	}
}
