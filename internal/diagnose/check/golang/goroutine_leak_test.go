package golang

import (
	"fmt"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// TestLoadIsNoLeak holds more goroutines in the second profile against what they are: those
// that serve connections, in any server, and what comes with each of them are load.
func TestLoadIsNoLeak(t *testing.T) {
	type site struct {
		where, root string
		more        int64
	}
	for _, c := range []struct {
		name  string
		sites []site
		want  string
	}{
		{"forgotten ones", []site{{"main.send", "main.ask.func1", 400}, {"main.wait", "net/http.(*conn).serve", 5}}, check.Supported},
		{"wait for a slot", []site{{"main.(*gate).enter", "net/http.(*conn).serve", 400}}, check.Inconclusive},
		{"connections that are kept, of a Go that names what starts them", []site{{"net.(*netFD).Read", "net/http.(*Server).Serve.gowrap3", 400}}, check.Inconclusive},
		{"connections to others, likewise", []site{{"net.(*netFD).Read", "net/http.(*Transport).dialConn.gowrap2", 400}}, check.Inconclusive},
		{"of gRPC", []site{{"main.(*gate).enter", "google.golang.org/grpc.(*Server).serveStreams.func2.1", 400}}, check.Inconclusive},
		{"of a server of the program's own, as requests show", []site{{"main.(*gate).enter", "main.serve", 400}}, check.Inconclusive},
		{"handlers with a time limit", []site{{"main.(*gate).enter", "main.limited.func1", 400}, {"main.limited", "net/http.(*conn).serve", 390}}, check.Inconclusive},
		{"two started for each request, which are gone", []site{{"main.send", "main.ask.func1", 800}, {"main.wait", "net/http.(*conn).serve", 60}}, check.Supported},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := evidence.NewBundle()
			var s evidence.SubjectID
			stack := func(p *evidence.Builder, x site) evidence.StackID {
				return p.Stack([]evidence.Frame{{Func: p.Name("runtime.gopark")}, {Func: p.Name(x.where)}, {Func: p.Name(x.root)}})
			}
			for i := range int64(2) {
				p := b.Builder(b.AddArtifact(evidence.Artifact{Name: fmt.Sprintf("goroutine-%d", i)}), "gopprof")
				if i == 0 {
					s = p.Subject(evidence.Subject{Runtime: "go"})
					p.Request(evidence.Request{Subject: s, Lane: 7, Start: 1, End: 9,
						Path: evidence.Path(nil).Append(evidence.Segment{Kind: evidence.PoolWait, Dur: 8, Stack: stack(p, site{where: "main.(*gate).enter", root: "main.serve"})})})
				}
				at := 1e9 + i*10e9
				p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverGoroutines, From: at, Until: at})
				for _, x := range c.sites {
					p.Sample(evidence.Sample{Subject: s, Type: p.Name("goroutine"), Value: 20 + i*x.more, Stack: stack(p, x), Origin: p.Origin(1)})
				}
				p.Close()
			}
			if v := judgeLeak(&check.Case{Bundle: b, Subject: s}); v.State != c.want {
				t.Errorf("%s (%s), want %s", v.State, v.Summary, c.want)
			}
		})
	}
}
