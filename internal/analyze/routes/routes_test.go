package routes

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// traced is a bundle of requests, each of the stacks it was seen on: functions outermost
// first, "*" before those that a server or router called, ":line" behind calls.
func traced(t *testing.T, requests ...[]string) *evidence.Bundle {
	t.Helper()
	b := evidence.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "trace.out"}), "gotrace")
	s := p.Subject(evidence.Subject{Kind: evidence.Process})
	for i, stacks := range requests {
		var seen []int32
		took := int64(1e6)
		for _, stack := range stacks {
			if stack == "slow" {
				took = 50e6
				continue
			}
			var callers []evidence.Caller
			for _, f := range strings.Fields(stack) {
				f, called := strings.CutPrefix(f, "*")
				f, line, _ := strings.Cut(f, ":")
				callers = append(callers, evidence.Caller{Func: p.Name(f), Line: int32(len(line)), Called: called})
			}
			seen = append(seen, p.HandlingStack(callers))
		}
		at := int64(i+1) * 1e9
		p.Request(evidence.Request{Subject: s, Lane: 7, Start: at, End: at + took, Handling: p.Handling(seen),
			Path: evidence.Path(nil).Append(evidence.Segment{Kind: evidence.Running, Dur: took})})
	}
	p.Close()
	return b
}

func many(n int, requests ...[]string) (out [][]string) {
	for range n {
		out = append(out, requests...)
	}
	return out
}

func TestName(t *testing.T) {
	for _, c := range []struct {
		name     string
		requests [][]string
		want     map[string]int
	}{
		{"a handler, and what its heavy requests call",
			append(many(20, []string{}), many(5, []string{"slow", "*main.search.func1:a main.similar"})...),
			map[string]int{"main.search.func1": 25}},
		{"what some requests of a handler do is no route",
			many(9, []string{"slow", "*main.search:a main.load", "*main.search:bb main.compute"}, []string{"*main.search:a main.load"}),
			map[string]int{"main.search": 18}},
		{"a wrapper that writes a log",
			many(9, []string{"*main.logged.func1:a *main.cart"}, []string{"*main.logged.func1:a *main.play", "*main.logged.func1:bb main.(*log).add"}, []string{"slow", "*main.logged.func1:bb main.(*log).add"}),
			map[string]int{"main.cart": 9, "main.play": 9, "": 9}},
		{"an adaptor that is given handlers",
			many(9, []string{"*main.adapt.func1:a main.cart"}, []string{"*main.adapt.func1:a main.play:bb main.load"}),
			map[string]int{"main.cart": 9, "main.play": 9}},
		{"two calls on one line for one request",
			many(9, []string{"*main.cart:a main.render", "*main.cart:a main.compute"}),
			map[string]int{"main.cart": 9}},
		{"nested wrappers, and the only handler for those not seen in it",
			append(many(9, []string{"*main.traced.func1:a *main.logged.func1:a *main.cart:a main.load"}), many(30, []string{"*main.traced.func1:a *main.logged.func1"})...),
			map[string]int{"main.cart": 39}},
		{"short ones are of the handler that has short ones",
			append(many(9, []string{"*main.cart"}, []string{"slow", "*main.export"}), many(9, []string{})...),
			map[string]int{"main.cart": 18, "main.export": 9}},
		{"the few that are too quick to be seen are no measure for the handler that is",
			append(many(30, []string{"slow", "*main.show"}), many(5, []string{})...),
			map[string]int{"main.show": 30, "": 5}},
		{"nothing is known", many(9, []string{}), map[string]int{"": 9}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := traced(t, c.requests...)
			Name(b)
			got := map[string]int{}
			for _, r := range b.Requests.Route.All() {
				got[b.Names.Text(r)]++
			}
			for k, n := range c.want {
				if got[k] != n {
					t.Errorf("%q: %d requests, want %d (%v)", k, got[k], n, got)
				}
			}
		})
	}
}

// TestNameBesides: requests that left no stack are not of the only handler seen where profiles
// show that another one is called at the same place.
func TestNameBesides(t *testing.T) {
	const handler, quick, log = "main.star", "main.moon", "main.logged"
	for _, c := range []struct {
		name     string
		profile  []string // stacks, innermost first
		weights  []int64
		of, none int // requests of the handler, of no known one
	}{
		{"another handler", []string{handler + " main.logged net/http.HandlerFunc.ServeHTTP", quick + " main.logged net/http.HandlerFunc.ServeHTTP"}, []int64{100, 30}, 5, 20},
		{"a health check now and then", []string{handler + " net/http.HandlerFunc.ServeHTTP", quick + " net/http.HandlerFunc.ServeHTTP"}, []int64{100, 3}, 25, 0},
		{"what wraps the handler", []string{handler + " " + log + " net/http.HandlerFunc.ServeHTTP", log + " net/http.HandlerFunc.ServeHTTP"}, []int64{100, 100}, 25, 0},
		{"profiles that are asked for", []string{handler + " net/http.HandlerFunc.ServeHTTP", "net/http/pprof.Index net/http.HandlerFunc.ServeHTTP"}, []int64{100, 100}, 25, 0},
		{"work beside requests", []string{handler + " net/http.HandlerFunc.ServeHTTP", "main.refresh main.main"}, []int64{100, 900}, 25, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := traced(t, append(many(20, []string{}), many(5, []string{"slow", "*" + handler})...)...)
			p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "heap.pb.gz"}), "gopprof")
			for i, stack := range c.profile {
				var frames []evidence.Frame
				for _, f := range strings.Fields(stack) {
					frames = append(frames, evidence.Frame{Func: p.Name(f), Line: 7})
				}
				p.Sample(evidence.Sample{Subject: b.Requests.Subject.At(0), Stack: p.Stack(frames), Type: p.Name("alloc_space"), Value: c.weights[i]})
			}
			p.Close()
			Name(b)
			got := map[string]int{}
			for _, r := range b.Requests.Route.All() {
				got[b.Names.Text(r)]++
			}
			if got[handler] != c.of || got[""] != c.none {
				t.Errorf("%d requests of the handler and %d of none, want %d and %d", got[handler], got[""], c.of, c.none)
			}
		})
	}
}
