package gotrace

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// TestPacksBeside packs spans and requests, more spans than are kept as they are, by the goroutine that finds
// them and by another one: the same comes of them.
func TestPacksBeside(t *testing.T) {
	pack := func(beside bool) *evidence.Bundle {
		b := evidence.NewBundle()
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "trace.out"}), Format.Name)
		subject := p.Subject(evidence.Subject{Runtime: "go"})
		var log evidence.ProcessorLog
		o := packer{b: p, rows: newRows(spansHere, requestsHere)}
		if beside {
			o.startBeside()
		}
		rng := rand.New(rand.NewPCG(1, 2))
		var lanes []*evidence.LaneLog
		var at []int64
		var path evidence.Path
		n := 3 << 20
		for i := range n {
			if i%(n/8) == 0 {
				o.flush()
				lanes, at = append(lanes, log.Lane(len(lanes), 0)), append(at, 0)
			}
			k := rng.IntN(len(lanes))
			s := o.addSpan()
			from := at[k] + rng.Int64N(2)*rng.Int64N(5000)
			at[k] = from + 1 + rng.Int64N(50000)
			*s = laneSpan{on: lanes[k], from: from, to: at[k], lane: evidence.LaneID(rng.IntN(90)), name: evidence.NameID(rng.IntN(9)), work: evidence.WorkRequest}
			s.serves = s.lane
			if i%100 == 0 {
				path = path[:0]
				for range rng.IntN(200) {
					path = path.Plain(evidence.Running, 1+rng.Int64N(1e6), evidence.StackID(rng.IntN(100)), 0)
				}
				o.addRequest(&evidence.Request{Subject: subject, Lane: s.lane, Start: from, End: at[k], Path: path})
			}
		}
		if err := o.finish(); err != nil {
			t.Fatal(err)
		}
		p.Processors(subject, &log, 0, at[0])
		p.Close()
		return b
	}
	here, beside := pack(false), pack(true)
	if !reflect.DeepEqual(here, beside) {
		t.Error(firstDifference(told(beside, nil), told(here, nil)))
	}
	if here.Processors[0].Quantum == 0 || here.Requests.Len() != (3<<20+99)/100 {
		t.Errorf("joined below %d ns, %d requests", here.Processors[0].Quantum, here.Requests.Len())
	}
}

// TestPackerBreaksOff has the goroutine that packs panic: the one that fills is told of it, and waits for nothing.
func TestPackerBreaksOff(t *testing.T) {
	o := packer{rows: newRows(spansHere, requestsHere)} // without a builder
	o.startBeside()
	err := catchPanic(func() error {
		for {
			o.addRequest(&evidence.Request{})
		}
	})
	if err == nil || o.finish() == nil {
		t.Errorf("not told: %v", err)
	}
}
