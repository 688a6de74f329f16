package timeline

import (
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Load generators that ran at once are what the service was asked for: they are drawn, and counted, together.
func TestLoadsAtOnce(t *testing.T) {
	b := evidence.NewBundle()
	const each = 200
	for k, name := range []string{"one.bin", "two.bin", "three.bin"} {
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: name}), "load")
		*p.Clock() = evidence.Clock{Name: "unix"}
		s := p.Subject(evidence.Subject{Address: "127.0.0.1:80"})
		begin := int64(1_700_000_000e9) + int64(k)*1e6
		for i := range int64(each) {
			at := begin + i*50e6
			p.Request(evidence.Request{Subject: s, Route: p.Name("GET /a"), Intended: at, End: at + 3e6, Origin: p.Origin(i + 1)})
		}
		p.Load(evidence.LoadResult{Tool: "unstall", Origin: p.Origin(0)})
		p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverRequests, From: begin, Until: begin + each*50e6})
		p.Close()
	}
	line := build(b)
	if len(line.Requests) != 1 || line.Requests[0].Count != 3*each {
		t.Fatalf("drawn are %d sources: %+v", len(line.Requests), line.Requests)
	}
	var begun float64
	for _, c := range line.Charts {
		if c.ID != "rate" {
			continue
		}
		for k := range c.Curves[0].V[:len(c.Curves[0].V)-1] {
			begun += c.Curves[0].V[k] * float64(c.Curves[0].T[k+1]-c.Curves[0].T[k]) / 1e9
		}
	}
	if begun < 3*each-20 || begun > 3*each+20 {
		t.Errorf("%.0f requests began, want %d", begun, 3*each)
	}
}
