package diagnose

import (
	"testing"
	"time"

	"github.com/unstall/unstall/evidence"
)

// Many slow requests that no cause explains are not "nothing found", and quick ones that take
// three times as long as the quickest are.
func TestOutcome(t *testing.T) {
	log := func(quick, slow time.Duration, every int64) *evidence.Bundle {
		b := evidence.NewBundle()
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "access.log"}), "accesslog")
		p.Clock().Name = "unix"
		s := p.Subject(evidence.Subject{Kind: evidence.Process, Name: "shop"})
		const epoch = int64(1_700_000_000e9)
		for i := range int64(2000) {
			took := quick
			if i%every == 0 {
				took = slow
			}
			from := epoch + i*10e6
			p.Request(evidence.Request{Subject: s, Start: from, End: from + int64(took), Origin: p.Origin(i)})
		}
		p.Close()
		return b
	}
	for _, x := range []struct {
		b    *evidence.Bundle
		slo  time.Duration
		want string
	}{
		{log(2*time.Millisecond, 400*time.Millisecond, 5), 0, NotExplained},
		{log(2*time.Millisecond, 400*time.Millisecond, 5), time.Second, NotJudged}, // an access log alone shows no mechanism
		{log(200*time.Microsecond, 2*time.Millisecond, 5), 0, NotJudged},
		{log(8*time.Millisecond, 26*time.Millisecond, 5), 0, NotExplained},
		{log(8*time.Millisecond, 26*time.Millisecond, 40), 0, NotJudged}, // so few are no harm
	} {
		d, err := Run(t.Context(), x.b, Options{SLO: x.slo})
		if err != nil {
			t.Fatal(err)
		}
		if d.Outcome != x.want {
			t.Errorf("%s, want %s: %d slow requests", d.Outcome, x.want, d.Requests.Slow)
		}
	}
}
