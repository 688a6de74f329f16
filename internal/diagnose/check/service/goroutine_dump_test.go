package service

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// TestPoolDump holds goroutines in a pool's code against what they do there.
func TestPoolDump(t *testing.T) {
	for name, x := range map[string]struct {
		frames []string
		n      int64
		want   bool
	}{
		"wait for a connection":          {[]string{"runtime.gopark", "runtime.selectgo", "database/sql.(*DB).conn", "database/sql.(*DB).query", "shop.load"}, 40, true},
		"wait at a semaphore of it":      {[]string{"golang.org/x/sync/semaphore.(*Weighted).Acquire", "github.com/jackc/puddle/v2.(*Pool[go.shape.*uint8]).acquire", "shop.load"}, 40, true},
		"few":                            {[]string{"github.com/gomodule/redigo/redis.(*Pool).get", "shop.load"}, 3, false},
		"open one":                       {[]string{"internal/poll.runtime_pollWait", "net.(*netFD).connect", "net.(*Dialer).DialContext", "github.com/gomodule/redigo/redis.(*Pool).get", "shop.load"}, 40, false},
		"wait for an answer with one":    {[]string{"internal/poll.runtime_pollWait", "net.(*conn).Read", "database/sql.(*DB).query", "shop.load"}, 40, false},
		"wait for a semaphore of theirs": {[]string{"golang.org/x/sync/semaphore.(*Weighted).Acquire", "shop.load"}, 40, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := evidence.NewBundle()
			p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "goroutines.txt"}), "gopprof")
			s := p.Subject(evidence.Subject{Runtime: "go"})
			var frames []evidence.Frame
			for _, f := range x.frames {
				frames = append(frames, evidence.Frame{Func: p.Name(f)})
			}
			p.Sample(evidence.Sample{Subject: s, Type: p.Name("goroutine"), Value: x.n, Stack: p.Stack(frames), Origin: p.Origin(1)})
			p.Close()
			v, ok := judgePoolDump(&check.Case{Bundle: b, Subject: s})
			if ok != x.want || ok && !v.Supported() {
				t.Errorf("found %v (%s), want %v", ok, v.Summary, x.want)
			}
		})
	}
}

// TestFlowControl holds goroutines that wait until the other end reads against those that do something else.
func TestFlowControl(t *testing.T) {
	server, client := "golang.org/x/net/http2.(*serverConn).writeDataFromHandler", "net/http.(*http2clientStream).awaitFlowControl"
	for name, x := range map[string]struct {
		innermost string
		n, others int64
		says      string // "" if it is not told
	}{
		"half of all":      {server, 10, 10, "responses wait until their clients read: 10 of 20 goroutines shown"},
		"less than half":   {server, 10, 11, ""},
		"nine":             {server, 9, 0, ""},
		"of a client":      {client, 10, 0, "requests wait until the server read"},
		"before a handler": {"golang.org/x/net/http2.(*serverConn).serve", 40, 0, ""},
		"work of its own":  {"shop.load", 40, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := evidence.NewBundle()
			p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "goroutines.txt"}), "gopprof")
			s := p.Subject(evidence.Subject{Runtime: "go"})
			add := func(n int64, functions ...string) {
				var frames []evidence.Frame
				for _, f := range functions {
					frames = append(frames, evidence.Frame{Func: p.Name(f)})
				}
				p.Sample(evidence.Sample{Subject: s, Type: p.Name("goroutine"), Value: n, Stack: p.Stack(frames), Origin: p.Origin(1)})
			}
			add(x.n, "runtime.gopark", "runtime.selectgo", x.innermost, "bufio.(*Writer).Flush", "shop.handle", server)
			if x.others > 0 {
				add(x.others, "internal/poll.runtime_pollWait", "net.(*conn).Read", server)
			}
			p.Close()
			v, ok := judgeFlowControl(&check.Case{Bundle: b, Subject: s})
			if ok != (x.says != "") || ok && (!v.Supported() || !strings.Contains(v.Title, x.says)) {
				t.Errorf("found %v (%s), want %q", ok, v.Title, x.says)
			}
		})
	}
}
