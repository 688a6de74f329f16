package checktest

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// Figures are numbers by the names of series or facts.
type Figures map[string]float64

// With returns the figures with others in their place; NaN takes one away.
func (f Figures) With(other Figures) Figures {
	out := maps.Clone(f)
	maps.Copy(out, other)
	maps.DeleteFunc(out, func(_ string, v float64) bool { return math.IsNaN(v) })
	return out
}

// Told is what was recorded of a subject without requests: figures that stay the same or grow with each reading, and facts, which all have one text.
type Told struct {
	Of                   evidence.Subject
	Series, Grows, Facts Figures
	Text                 string
	Readings             int // of each series, a second apart; 0: eleven
}

// Case returns it as what a check judges. Series of a host are of a host of 4 CPUs, others of the subject.
func (x Told) Case() *check.Case {
	const epoch, second = 1_700_000_000e9, int64(1e9)
	b := evidence.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "told.txt"}), "procfs")
	p.Clock().Name = "unix"
	s := p.Subject(x.Of)
	host := s
	if x.Of.Kind != evidence.Host {
		host = p.Subject(evidence.Subject{Kind: evidence.Host, CPUs: 4})
	}
	line, n := int64(0), int64(11)
	if x.Readings > 0 {
		n = int64(x.Readings)
	}
	for _, name := range slices.Sorted(maps.Keys(x.Series)) {
		line++
		y := evidence.Series{Subject: s, Name: name, Origin: p.Origin(line)}
		switch {
		case strings.HasPrefix(name, "host."):
			y.Subject = host
		case strings.HasPrefix(name, "pool/"):
			y.Unit = "connections"
		}
		for i := range n {
			y.T, y.V = append(y.T, epoch+i*second), append(y.V, x.Series[name]+float64(i)*x.Grows[name])
		}
		p.Series(y)
	}
	for _, key := range slices.Sorted(maps.Keys(x.Facts)) {
		line++
		p.Fact(evidence.Fact{Subject: s, Key: key, Number: x.Facts[key], Value: x.Text, From: epoch, Until: epoch + 10*second, Origin: p.Origin(line)})
	}
	p.Close()
	return &check.Case{Bundle: b, Subject: s}
}
