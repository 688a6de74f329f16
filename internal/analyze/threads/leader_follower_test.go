package threads_test

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack/stacktest"
)

// Workers that take turns at a queue wait for its lock while one of them waits for work: none has any. Of a lock that
// keeps them from work somebody always has some.
func TestTurns(t *testing.T) {
	const lock, queue, own = "futex mutex|- of 0x10|- sp 0x100", "futex|- of 0x80|- sp 0x100", "running"
	for name, c := range map[string]struct {
		rounds [][3]string
		idle   bool
	}{
		"turns":   {[][3]string{{queue, lock, lock}, {lock, queue, lock}, {lock, lock, queue}, {own, queue, lock}, {queue, lock, lock}, {lock, queue, lock}}, true},
		"a lock":  {[][3]string{{own, lock, lock}, {lock, own, lock}, {lock, lock, own}, {own, queue, lock}, {queue, own, lock}, {lock, own, queue}}, false},
		"nothing": {[][3]string{{lock, lock, lock}, {lock, lock, lock}, {lock, lock, lock}, {lock, lock, lock}, {lock, lock, lock}, {lock, lock, lock}}, false},
	} {
		b := evidence.NewBundle()
		b.Subjects = []evidence.Subject{{Name: "svc", PID: 4711}}
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "x"}), "x")
		for n, round := range c.rounds {
			for tid, text := range round {
				p.Sample(evidence.Sample{Time: int64(1763689985e9) + int64(n)*25e6, Lane: evidence.LaneID(tid + 1), Stack: stacktest.Intern(p, stacktest.Kernel(strings.Split(text, "|")...)),
					Type: p.Name(evidence.SampleSyscall), Value: 1, Origin: p.Origin(1)})
			}
		}
		p.Close()
		of := threads.Readers{"": threads.NativeStacks}
		threads.Adopt(b, of)
		locked := 0
		for _, l := range threads.Of(b, of).Samples(0) {
			if l.View.State == evidence.LockWait {
				locked++
			}
		}
		if (locked == 0) != c.idle {
			t.Errorf("%s: %d looks wait for the lock", name, locked)
		}
	}
}
