package check

import (
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Calls are late where most of their time is in calls that take far longer than others of their operation, however long all of an
// operation take and however many requests make no call.
func TestRecordedCallsLong(t *testing.T) {
	const ms = int64(1e6)
	for name, c := range map[string]struct {
		calls       map[string][]int64 // ms, by operation
		long, known bool
	}{
		"no calls":                 {nil, false, false},
		"each as long as others":   {map[string][]int64{"SELECT": {35, 36, 37, 35, 36}}, false, true},
		"one operation takes long": {map[string][]int64{"SELECT": {1, 2, 1, 2, 1, 2}, "report": {900, 950, 910}}, false, true},
		"some take far longer":     {map[string][]int64{"SELECT": {10, 600, 11, 10, 12, 650}}, true, true},
		"one takes longer of many": {map[string][]int64{"SELECT": {10, 11, 10, 12, 10, 11, 40}}, false, true},
	} {
		b := evidence.NewBundle()
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "exchanges.txt"}), "exchanges")
		s := p.Subject(evidence.Subject{Runtime: "go"})
		r := p.Request(evidence.Request{Subject: s, Start: 0, End: ms})
		for of, took := range c.calls {
			for _, v := range took {
				p.Interval(evidence.Interval{Subject: s, Kind: evidence.Call, Start: 0, End: v * ms, Request: r, Cause: p.Name("database"),
					Extra: []evidence.Extra{{Key: evidence.Operation, Value: float64(p.Name(of))}}})
			}
		}
		p.Close()
		if long, known := (&Case{Bundle: b, Subject: s}).recordedCallsLong(); long != c.long && known || known != c.known {
			t.Errorf("%s: long %v, known %v", name, long, known)
		}
	}
}
