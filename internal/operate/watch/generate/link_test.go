package generate

import (
	"strings"
	"testing"
	"time"
)

func TestLinker(t *testing.T) {
	from := time.Unix(1_700_000_000, 0)
	const when = "from=1699999700000&to=1700000330000"
	for _, c := range []struct{ address, host, service, want string }{
		{"https://grafana.example", "shop-1", "gateway", "https://grafana.example/d/unstall/unstall?" + when + "&var-host=shop-1&var-service=gateway"},
		{"http://10.0.0.7:3000/grafana/", "", "a b&c", "http://10.0.0.7:3000/grafana/d/unstall/unstall?" + when + "&var-service=a+b%26c"},
		{"https://grafana.example/d/ours/shop?orgId=2", "", "", "https://grafana.example/d/ours/shop?from=1699999700000&orgId=2&to=1700000330000"},
	} {
		l, err := NewLinker(c.address)
		if err != nil {
			t.Fatal(err)
		}
		if got := l.To(from, from.Add(30*time.Second), c.host, c.service); got != c.want {
			t.Errorf("%s\nwant %s", got, c.want)
		}
	}
	for _, bad := range []string{"grafana.example", "javascript:alert(1)", "https://", "https://me:secret@grafana.example", "::"} {
		if _, err := NewLinker(bad); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
