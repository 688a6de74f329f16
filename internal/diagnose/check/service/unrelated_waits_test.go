package service

import (
	"slices"
	"testing"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// As many threads wait at a place while no request is slow as while some is: these wait by design. Where more do, or where their number varies too
// much to tell, or too few looks met either, slow requests may be among them.
func TestWaitsWithoutSlow(t *testing.T) {
	steady, more, varies := []int{12}, []int{14}, []int{4, 20}
	for name, x := range map[string]struct {
		while, otherwise []int // threads that wait there, by turns
		looks            int   // while some request is slow
		want             bool
	}{
		"as many":          {steady, steady, 8, true},
		"fewer":            {steady, more, 8, true},
		"more":             {more, steady, 8, false},
		"a varying number": {varies, steady, 8, false},
		"few looks":        {steady, steady, 4, false},
		"enough looks":     {steady, steady, 5, true},
		"else none":        {steady, []int{0}, 8, false},
	} {
		c := seen{usual: 10, slow: 200, at: 20, kind: evidence.NetWait, cpu: 20}.subject(t)
		c.Ledger.Traced = false
		const until = 2000 // ms in which requests are slow
		c.Ledger.Slow = slices.DeleteFunc(slices.Clone(c.Ledger.Slow), func(row int) bool { return c.Bundle.Requests.End.At(row) > epoch+until*ms })
		p := c.Bundle.Builder(c.Bundle.AddArtifact(evidence.Artifact{Name: "more.nettrace"}), "nettrace")
		var frames []evidence.Frame
		for _, f := range []string{"System.Private.CoreLib!System.Threading.SemaphoreSlim.Wait()", "Shop!Shop.Rounds.Next()", "System.Private.CoreLib!System.Threading.ThreadPoolWorkQueue.Dispatch()"} {
			frames = append(frames, evidence.Frame{Func: p.Name(f)})
		}
		stack := p.Stack(frames)
		look := func(at int64, n int) {
			for k := range n {
				p.Sample(evidence.Sample{Subject: c.Subject, Time: epoch + at*ms, Lane: evidence.LaneID(1 + k), Stack: stack, Type: p.Name(evidence.SampleThread), Value: 1, Origin: p.Origin(at)})
			}
			p.Sample(evidence.Sample{Subject: c.Subject, Time: epoch + at*ms, Lane: 99, Stack: p.Stack(frames[2:]), Type: p.Name(evidence.SampleThread), Value: 1, Origin: p.Origin(at)})
		}
		slow := 0
		for row := range c.Ledger.Slow {
			r := c.Ledger.Slow[row]
			if at := (c.Bundle.Requests.Begins(r) - epoch) / ms; row%20 == 0 && slow < x.looks {
				look(at+50, x.while[slow%len(x.while)])
				slow++
			}
		}
		for k := range int64(10) {
			look(until+1000+k*600, x.otherwise[int(k)%len(x.otherwise)])
		}
		p.Close()
		var v check.Verdict
		place := &ledger.Place{Mechanism: ledger.Goroutine, Where: "Shop!Rounds.Next()", Ns: c.Ledger.Total / 2}
		if got := waitsWithoutSlow(c, place, &v); got != x.want || got != (len(v.Evidence) == 2) {
			t.Errorf("%s: %v, %+v (%d looks at slow ones)", name, got, v.Evidence, slow)
		}
	}
}
