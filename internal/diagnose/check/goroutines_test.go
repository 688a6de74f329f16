package check

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
)

const (
	limitedServer = "runtime.gopark runtime.selectgo web.example/rest.(*timeLimit).ServeHTTP net/http.serverHandler.ServeHTTP net/http.(*conn).serve net/http.(*Server).Serve.gowrap3"
	ownServer     = "runtime.gopark runtime.netpollblock internal/poll.(*FD).Read net.(*conn).Read net/http.(*connReader).Read net/http.(*conn).serve"
)

// TestWaitingCode holds where goroutines that serve requests wait against profiles of all goroutines.
func TestWaitingCode(t *testing.T) {
	type group struct {
		n      int64
		frames string
	}
	waits := "runtime.gopark runtime.semacquire1 sync.(*WaitGroup).Wait web.example/shared.(*locked).Do main.(*tariffs).of main.(*shop).tariff web.example/rest.(*timeLimit).ServeHTTP.func1"
	calls := "runtime.gopark runtime.selectgo net/http.(*persistConn).roundTrip net/http.(*Client).Get main.ask main.(*tariffs).of.func1 web.example/shared.(*locked).Do main.(*tariffs).of web.example/rest.(*timeLimit).ServeHTTP.func1"
	direct := "runtime.gopark runtime.chansend1 main.(*limiter).take main.(*shop).quote net/http.HandlerFunc.ServeHTTP net/http.(*conn).serve"
	own := "runtime.gopark runtime.chanrecv1 main.(*writer).run main.main.func2"
	for name, x := range map[string]struct {
		groups []group
		seen   string // by a look at a request
		want   string
	}{
		"started with a time limit": {[]group{{7, limitedServer}, {6, waits}, {1, calls}, {9, own}}, limitedServer, "main.(*tariffs).of (calling web.example/shared.(*locked).Do) ← main.(*shop).tariff"},
		"nothing was seen of it":    {[]group{{7, limitedServer}, {6, waits}, {1, calls}, {9, own}}, "", "main.(*tariffs).of (calling web.example/shared.(*locked).Do) ← main.(*shop).tariff"},
		"all call":                  {[]group{{7, limitedServer}, {7, calls}, {9, own}}, limitedServer, ""},
		"the program's own":         {[]group{{30, ownServer}, {5, direct}, {9, own}}, direct, "main.(*limiter).take ← main.(*shop).quote"},
		"another server's":          {[]group{{7, limitedServer}, {6, strings.ReplaceAll(waits, "timeLimit", "shaper")}}, limitedServer, ""},
		"several places":            {[]group{{7, limitedServer}, {3, waits}, {3, strings.ReplaceAll(waits, "tariffs", "offers")}, {3, strings.ReplaceAll(waits, "tariffs", "claims")}}, limitedServer, ""},
		"no profile":                {nil, direct, ""},
	} {
		b := evidence.NewBundle()
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "goroutine.pb.gz"}), "gopprof")
		s := p.Subject(evidence.Subject{Runtime: "go"})
		stack := func(frames string) evidence.StackID {
			var all []evidence.Frame
			for f := range strings.FieldsSeq(frames) {
				all = append(all, evidence.Frame{Func: p.Name(f)})
			}
			return p.Stack(all)
		}
		for _, g := range x.groups {
			p.Sample(evidence.Sample{Subject: s, Type: p.Name("goroutine"), Value: g.n, Stack: stack(g.frames), Origin: p.Origin(1)})
		}
		var seen evidence.StackID
		if x.seen != "" {
			seen = stack(x.seen)
		}
		p.Close()
		got := ""
		if at := (&Case{Bundle: b, Subject: s}).WaitingCode(seen); at != nil {
			got = at.String()
		}
		if got != x.want {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
}

// TestParkedHandlers holds where the goroutines of a server are parked against profiles of all goroutines and against how many slow requests there are of
// which it is not observed what they do.
func TestParkedHandlers(t *testing.T) {
	type group struct {
		n      int64
		frames string
	}
	const grpc = " google.golang.org/grpc.(*Server).processRPC google.golang.org/grpc.(*Server).handleStream google.golang.org/grpc.(*Server).serveStreams.func2.1"
	limited := "runtime.gopark runtime.selectgo golang.org/x/time/rate.(*Limiter).wait golang.org/x/time/rate.(*Limiter).WaitN main.(*limits).intercept main.fares.Get" + grpc
	streams := "runtime.gopark runtime.selectgo google.golang.org/grpc/internal/transport.(*http2Client).NewStream google.golang.org/grpc.(*ClientConn).Invoke main.(*sales).seats" + grpc
	asks := "runtime.gopark runtime.selectgo google.golang.org/grpc/internal/transport.(*ClientStream).waitOnHeader google.golang.org/grpc.(*ClientConn).Invoke main.(*sales).seats" + grpc
	http2 := "runtime.gopark runtime.chanrecv1 main.(*queue).take main.serve net/http.HandlerFunc.ServeHTTP net/http.(*http2serverConn).runHandler"
	gateway := "runtime.gopark runtime.selectgo google.golang.org/grpc/internal/transport.(*ClientStream).waitOnHeader main.gateway net/http.(*conn).serve"
	for name, x := range map[string]struct {
		profiles [][]group
		waiting  float64 // slow requests that are not observed, on average
		want     string
	}{
		"a limiter, behind a gateway of the same process": {[][]group{{{7, limited}, {7, gateway}}, {{5, limited}, {5, gateway}}}, 7, "main.(*limits).intercept (calling golang.org/x/time/rate.(*Limiter).WaitN) ← main.fares.Get"},
		"streams of a connection":                         {[][]group{{{4, streams}, {4, asks}}, {{6, streams}, {4, asks}}, {{3, streams}, {4, asks}}}, 4, "main.(*sales).seats (calling google.golang.org/grpc.(*ClientConn).Invoke)"},
		"a queue over HTTP/2":                             {[][]group{{{9, http2}}}, 4, "main.(*queue).take ← main.serve"},
		"most wait for answers":                           {[][]group{{{4, limited}, {9, asks}}, {{3, limited}, {9, asks}}}, 5, ""},
		"few are parked":                                  {[][]group{{{2, limited}}, {{2, limited}}}, 2, ""},
		"streams that are always there":                   {[][]group{{{40, http2}}, {{40, http2}}}, 2, ""},
		"many requests, and hardly any parked":            {[][]group{{{5, limited}}, {{0, limited}}, {{0, limited}}}, 20, ""},
		"no profile":                                      {nil, 5, ""},
	} {
		b := evidence.NewBundle()
		var s evidence.SubjectID
		for _, groups := range x.profiles {
			p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "goroutine.pb.gz"}), "gopprof")
			s = p.Subject(evidence.Subject{Runtime: "go"})
			for _, g := range groups {
				var all []evidence.Frame
				for f := range strings.FieldsSeq(g.frames) {
					all = append(all, evidence.Frame{Func: p.Name(f)})
				}
				p.Sample(evidence.Sample{Subject: s, Type: p.Name("goroutine"), Value: g.n, Stack: p.Stack(all), Origin: p.Origin(1)})
			}
			p.Close()
		}
		got := ""
		c := &Case{Bundle: b, Subject: s, Ledger: &ledger.Ledger{From: 1e9, To: 21e9}}
		if at := c.ParkedHandlers(int64(x.waiting * 20e9)); at != nil {
			got = at.String()
		}
		if got != x.want {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
}
