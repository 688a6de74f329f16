package platform_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
	"github.com/unstall/unstall/internal/collect/discover"
)

// dummy is what one more runtime takes: this value, which would be a file here, and its line
// in All.
var dummy = &platform.Runtime{
	ID:        "dummy",
	Title:     "Dummy",
	Versioned: "Dummy",
	Lane:      "fibre",
	Launchers: []string{"dummyrun"},
	Hosts:     true,
	Recognise: &discover.Recogniser{
		Traces: func(p discover.Process) (discover.Seen, bool) {
			return discover.Seen{Version: "3"}, p.Comm() == "dummyrun"
		},
		Program: func(command []string) string { return command[len(command)-2] }, // the last is empty
	},
	States: platform.Evidence{What: "what its fibres do", Command: "dummyctl fibres PID"},
	Stacks: &threads.Reader{
		Read: func(threadstack.Stack, string) threadstack.View {
			return threadstack.View{State: evidence.LockWait, Wait: 0, User: -1, Outer: -1, Began: -1}
		},
		Framework: func(function string) bool { return strings.HasPrefix(function, "dummy.") },
	},
}

// TestOneMore holds that a runtime is a file and a line: rooms that know nothing of it name
// it, tell its processes from what launches them, and read its threads.
func TestOneMore(t *testing.T) {
	all := platform.All
	platform.All = append(slices.Clip(all), dummy)
	t.Cleanup(func() { platform.All = all })

	b := incident.NewBundle()
	for i, s := range []evidence.Subject{{Name: "dummyrun", PID: 7, Runtime: "dummy"}, {Name: "Shop", PID: 7, Runtime: "dummy"}} {
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: s.Name}), string(rune('a'+i)))
		id := p.Subject(s)
		p.Sample(evidence.Sample{Subject: id, Lane: 1, Time: 1, Type: p.Name(evidence.SampleThread), Value: 1, Stack: p.Stack([]evidence.Frame{{Func: p.Name("shop.Basket")}})})
		p.Cover(evidence.Coverage{Subject: id, Kind: evidence.CoverThreads, From: 1, Until: 2})
		p.Close()
	}
	seen := incident.Of(b, incident.Options{}).Bundle
	if titles := seen.Titles(); titles[0] != "Shop pid 7" || titles[1] != "" {
		t.Errorf("a process and its launcher are %q", titles)
	}
	if l := threads.Of(seen, platform.Stacks()).Samples(0); len(l) != 2 || l[0].View.State != evidence.LockWait {
		t.Errorf("its threads are %+v", l)
	}
	of := platform.ByID("dummy")
	if of.Release("3") != "Dummy 3" || of.Lane != "fibre" || of.States.Command == "" {
		t.Errorf("%+v", of)
	}
	if got := platform.Titles(func(r *platform.Runtime) bool { return r.States.What != "" }, "and"); got != "Go, .NET, JVM and Dummy" {
		t.Errorf("those whose states can be seen are %q", got)
	}
}
