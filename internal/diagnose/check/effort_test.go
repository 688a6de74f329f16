package check

import (
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// The farthest function is one in which at least half of a function's work passes, beyond what it called; what runs any code is none.
func TestInnerOf(t *testing.T) {
	const own, callee = "main.handle", "encoding/json.Marshal"
	for name, c := range map[string]struct {
		stacks map[string][]string // by what they are, innermost first
		weight map[string]float64
		want   string
	}{
		"most is in one":           {map[string][]string{"a": {"reflect.copy", "encoding/json.encode", callee, own}, "b": {"encoding/json.quote", "encoding/json.encode", callee, own}}, map[string]float64{"a": 6, "b": 4}, "reflect.copy"},
		"it divides at one":        {map[string][]string{"a": {"reflect.copy", "encoding/json.encode", callee, own}, "b": {"encoding/json.quote", "encoding/json.encode", callee, own}, "c": {"encoding/json.tag", "encoding/json.encode", callee, own}}, map[string]float64{"a": 4, "b": 3, "c": 3}, "encoding/json.encode"},
		"it calls itself":          {map[string][]string{"a": {"encoding/json.copy", "encoding/json.copy", "encoding/json.encode", callee, own}, "b": {"encoding/json.copy", "encoding/json.encode", callee, own}}, map[string]float64{"a": 5, "b": 5}, "encoding/json.copy"},
		"half is in it":            {map[string][]string{"a": {"encoding/json.encode", callee, own}, "b": {own}}, map[string]float64{"a": 5, "b": 5}, "encoding/json.encode"},
		"most is in the caller":    {map[string][]string{"a": {"encoding/json.encode", callee, own}, "b": {own}}, map[string]float64{"a": 4, "b": 5}, ""},
		"no more than it called":   {map[string][]string{"a": {callee, own}}, map[string]float64{"a": 1}, ""},
		"the runtime is no code":   {map[string][]string{"a": {"runtime.mallocgc", callee, own}}, map[string]float64{"a": 1}, ""},
		"another's does not count": {map[string][]string{"a": {"encoding/json.encode", callee, own}, "b": {"encoding/json.quote", callee, "main.other"}}, map[string]float64{"a": 1, "b": 9}, "encoding/json.encode"},
	} {
		b := evidence.NewBundle()
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "trace.out"}), "trace")
		s := p.Subject(evidence.Subject{Runtime: "go"})
		stacks := make(map[evidence.StackID]float64)
		for what, functions := range c.stacks {
			frames := make([]evidence.Frame, len(functions))
			for i, f := range functions {
				frames[i].Func = p.Name(f)
			}
			stacks[p.Stack(frames)] = c.weight[what]
		}
		p.Close()
		if got := (&Case{Bundle: b, Subject: s}).InnerOf(Site{Function: own, Callee: callee}, stacks); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
