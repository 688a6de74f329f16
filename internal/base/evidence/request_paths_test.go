package evidence

import (
	"bytes"
	"testing"
)

// Paths may be given later; those that are there stay.
func TestSetPaths(t *testing.T) {
	b := NewBundle()
	p := b.Builder(b.AddArtifact(Artifact{Name: "a"}), "test")
	first := Path(nil).Append(Segment{Kind: NetWait, Dur: 7})
	later := Path(nil).Append(Segment{Kind: TaskWait, Dur: 9, Stack: 3})
	long := bytes.Repeat(later, pathBlock/len(later)+1)
	for i := range 5 {
		q := Request{Start: 1, End: 10}
		if i == 1 {
			q.Path = first
		}
		p.Request(q)
	}
	b.Requests.SetPaths(func(i int) Path { return [][]byte{later, nil, nil, long, later}[i] })
	for i, want := range []Path{later, first, nil, nil, later} {
		if got := b.Requests.Path(i); !bytes.Equal(got, want) {
			t.Errorf("path %d is %v, want %v", i, got, want)
		}
	}
}
