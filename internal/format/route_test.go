package format

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/redact"
	"github.com/unstall/unstall/internal/base/redact/redacttest"
)

// TestRouteOfStored reads a request as it came and as a capture has it: its route is the
// same, and tells nothing.
func TestRouteOfStored(t *testing.T) {
	n := 0
	check := func(target, secret string) {
		n++
		route := string(AppendRoute(nil, []byte(target)))
		if secret != "" && strings.Contains(route, secret) {
			t.Errorf("%s has the route %s", target, route)
		}
		line := strings.Fields(string(redact.Line([]byte("GET " + target + " HTTP/1.1"))))
		if stored := string(AppendRoute(nil, []byte(line[1]))); stored != route {
			t.Errorf("%s: the route is %s, and %s as stored (%s)", target, route, stored, line[1])
		}
		over := []byte("GET " + target + " HTTP/1.1")
		redact.Overwrite(over)
		if stored := string(AppendRoute(nil, []byte(strings.Fields(string(over))[1]))); stored != route {
			t.Errorf("%s: the route is %s, and %s as overwritten (%s)", target, route, stored, over)
		}
	}
	for _, s := range redacttest.Secrets() {
		if f := strings.Fields(s.Text); !s.Args && len(f) > 1 && f[0] == "GET" {
			check(f[1], s.Hide)
		}
	}
	for target, want := range map[string]string{"/api/v2/items": "/api/v2/items", "/play/1001?x=1": "/play/{id}", "/static/app.3f2a9c1b.js": "/static/app.3f2a9c1b.js", "/a/b-c/index.html": "/a/b-c/index.html",
		"/print/page-17": "/print/page-{id}", "/u/big_order_4/x": "/u/big_order_{id}/x", "/v1-2/s3/sha-256.txt/-7": "/v1-2/s3/sha-256.txt/-7"} {
		check(target, "")
		if got := string(AppendRoute(nil, []byte(target))); got != want {
			t.Errorf("%s has the route %s, not %s", target, got, want)
		}
	}
	if n < 15 {
		t.Error("only", n)
	}
}
