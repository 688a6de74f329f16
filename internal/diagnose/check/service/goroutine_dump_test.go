package service

import (
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
