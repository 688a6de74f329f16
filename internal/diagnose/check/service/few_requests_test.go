package service

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/spans"
)

// TestFewRequests: of a few requests nothing tells whether they are slow, so that a dependency in
// which they spend their time is not ruled out by them.
func TestFewRequests(t *testing.T) {
	for _, c := range []struct {
		name     string
		requests int
		call     int    // ms of 130
		caller   string // the service that the call's span is of
		state    string
	}{
		{"one, mostly in a call", 1, 125, "shop", check.Inconclusive},
		{"three, mostly in a proxy's call", 3, 100, "shop-proxy", check.Inconclusive},
		{"three, mostly local", 3, 10, "shop", check.RuledOut},
		{"many alike, mostly in a call", 40, 125, "shop", check.RuledOut},
	} {
		var all []string
		for i := range c.requests {
			at := 1700000000000000 + int64(i)*1000000
			all = append(all, fmt.Sprintf(`{"traceId":"a%x","id":"b%x","kind":"SERVER","name":"post","timestamp":%d,"duration":130000,"localEndpoint":{"serviceName":"shop"}}`, i+1, i+1, at),
				fmt.Sprintf(`{"traceId":"a%x","id":"c%x","parentId":"b%x","kind":"CLIENT","name":"post","timestamp":%d,"duration":%d,"localEndpoint":{"serviceName":%q},"remoteEndpoint":{"serviceName":"backend"}}`, i+1, i+1, i+1, at+2000, c.call*1000, c.caller))
		}
		text := "[" + strings.Join(all, ",\n") + "]"
		b := evidence.NewBundle()
		a := &format.Artifact{Name: "spans.json", Size: int64(len(text)), Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
		if err := format.Read(context.Background(), []format.Format{spans.Format}, a, b); err != nil {
			t.Fatal(err)
		}
		for _, l := range ledger.Build(b, ledger.Options{}) {
			if v := DependencySlow.Judge(&check.Case{Bundle: b, Subject: l.Subject, Ledger: l}); v.State != c.state {
				t.Errorf("%s: %s (%s), want %s", c.name, v.State, v.Summary, c.state)
			}
		}
	}
}
