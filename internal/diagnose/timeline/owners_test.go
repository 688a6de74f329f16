package timeline

import (
	"testing"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
)

// The owner of a native function is that of the file it is from.
func TestOwnerOf(t *testing.T) {
	for f, want := range map[string]string{
		"libc.so.6+0x891f4 (libc.so.6)": "libc", "pthread_cond_wait (libc.so.6)": "libc", "read": "libc", "main (libc.so.6)": "libc",
		"PyObject_Vectorcall (libpython3.11.so.1.0)": "runtime", "_queue_SimpleQueue_get (_queue.cpython-311-x86_64-linux-gnu.so)": "runtime",
		"libjemalloc.so.2+0x3a0ea": "library", "inflate (libz.so.1)": "library",
		"serve": "", "redis-check-rdb+0x64e50": "", "aeMain (redis-server)": "", "Shop!Cart.Get(int32)": "", "vfs_read_[k]": "kernel",
	} {
		if got := ownerOf(f); got != want {
			t.Errorf("%s is of %q, want %q", f, got, want)
		}
	}
}

// A figure that two sessions of a process recorded is one curve, the longer one; one that the other session does not cover stays.
func TestDropRepeated(t *testing.T) {
	c := Chart{Curves: []Curve{
		{ID: "pool", Title: "pool", Source: "events", T: []int64{2, 8}, V: []float64{5, 5}},
		{ID: "pool", Title: "pool", Source: "threads", T: []int64{1, 9}, V: []float64{4, 4}},
		{ID: "pool", Title: "pool", Source: "later", T: []int64{8, 12}, V: []float64{4, 4}},
		{ID: "limit", Title: "limit", Source: "events", T: []int64{2, 8}, V: []float64{9, 9}},
	}}
	c.dropRepeated()
	var left []string
	for _, x := range c.Curves {
		left = append(left, x.ID+" "+x.Source)
	}
	if len(left) != 3 || left[0] != "pool threads" || left[1] != "pool later" || left[2] != "limit events" {
		t.Errorf("%q", left)
	}
}

// A request of any load generator that ran at once is slow by the ledger's decision, not by the least threshold of all routes.
func TestSlowOfSeveralClients(t *testing.T) {
	b := evidence.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "requests-1.txt"}), "loadresult")
	p.Close()
	q := b.Builder(b.AddArtifact(evidence.Artifact{Name: "requests-2.txt"}), "loadresult")
	s := q.Subject(evidence.Subject{Name: "shop", PID: 1})
	q.Request(evidence.Request{Subject: s, Lane: 1, Start: 1e18, End: 1e18 + 10e6})
	q.Close()
	l := &layout{b: b, subject: s, ledger: &ledger.Ledger{Source: 0, Threshold: 1e6, Rows: []int{0}}, slow: evidence.NewRows(1)}
	l.findChargedArtifacts()
	if l.isSlow(0, 10e6) {
		t.Error("slow although the ledger says that it is not")
	}
	l.slow.Add(0)
	if !l.isSlow(0, 10e6) {
		t.Error("not slow although the ledger says that it is")
	}
}

// A thread that is in the same wait at each look has no work: the main thread of a server. One that also waits elsewhere has.
func TestIdleAtItsPost(t *testing.T) {
	b := evidence.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "threads.nettrace"}), "nettrace")
	s := p.Subject(evidence.Subject{Runtime: "dotnet", Name: "Shop", PID: 1})
	stack := func(names ...string) evidence.StackID {
		var all []evidence.Frame
		for _, n := range names {
			all = append(all, evidence.Frame{Func: p.Name(n)})
		}
		return p.Stack(all)
	}
	wait := []string{"System.Private.CoreLib!System.Threading.Monitor.Wait(class System.Object,int32)", "System.Private.CoreLib!System.Threading.ManualResetEventSlim.Wait(int32)",
		"System.Private.CoreLib!System.Threading.Tasks.Task.InternalWaitCore(int32)", "System.Private.CoreLib!System.Runtime.CompilerServices.TaskAwaiter.HandleNonSuccessAndDebuggerNotification(class System.Threading.Tasks.Task)"}
	post, other, elsewhere := stack(append(wait, "Shop!Program.Main()")...), stack(append(wait, "Shop!Batch.Run()", "Shop!Batch.Start()")...), stack(append(wait, "Shop!Batch.Load()", "Shop!Batch.Start()")...)
	for i := range int64(8) {
		p.Sample(evidence.Sample{Subject: s, Time: 1e18 + i*1e9, Lane: 1, Stack: post, Type: p.Name(evidence.SampleThread), Unit: p.Name("count"), Value: 1})
		at := other
		if i%2 == 0 {
			at = elsewhere
		}
		p.Sample(evidence.Sample{Subject: s, Time: 1e18 + i*1e9, Lane: 2, Stack: at, Type: p.Name(evidence.SampleThread), Unit: p.Name("count"), Value: 1})
	}
	p.Close()
	kinds := make(map[string]string)
	for _, f := range Of(b, nil, s).Flames {
		for _, n := range f.Nodes {
			if f.ID == "threads" {
				kinds[n.Name] = n.Kind
			}
		}
	}
	if kinds["Shop!Program.Main()"] != "idle" || kinds["Shop!Batch.Run()"] == "idle" || kinds["Shop!Batch.Run()"] == "" {
		t.Errorf("%v", kinds)
	}
}
