package accesslog

import (
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// products write JSON whose units and stamps are documented, by the keys that
// give them away.
var products = []struct {
	name     string
	keys     []string
	stamp    evidence.Stamp
	duration map[string]int64 // unit of the keys that do not say it
}{
	{"Traefik JSON", []string{"StartUTC", "Duration"}, evidence.StampStart, map[string]int64{"Duration": 1, "OriginDuration": 1}},
	{"Traefik JSON", []string{"StartLocal", "Duration"}, evidence.StampStart, map[string]int64{"Duration": 1, "OriginDuration": 1}},
	{"Envoy JSON", []string{"start_time", "duration", "response_code"}, evidence.StampStart, map[string]int64{"duration": 1e6, "upstream_service_time": 1e6}},
	{"Caddy JSON", []string{"ts", "request.uri", "duration"}, evidence.StampCompletion, map[string]int64{"duration": 1e9}},
}

// product replaces what was inferred by what is documented.
func product(l *layout, stats map[string]*keyStats) {
	k := l.reader.(*keyed)
	for _, p := range products {
		if slices.ContainsFunc(p.keys, func(key string) bool { return stats[key] == nil }) {
			continue
		}
		l.name, l.notes = p.name, nil
		for _, w := range k.want {
			unit, known := p.duration[string(w.key)]
			m := &k.duration
			switch w.role {
			case roleTime:
				if string(w.key) == p.keys[0] {
					l.stamp = p.stamp
				}
				continue
			case roleUpstream:
				m = &k.upstream
			case roleDuration:
			default:
				continue
			}
			if known && m.unit != 0 { // 0: Caddy's duration_format string
				m.unit = unit
			}
		}
		for i, f := range l.fields {
			if what, _, ok := strings.Cut(f, ": "); ok {
				switch {
				case strings.HasPrefix(f, "duration "):
					l.fields[i] = what + ": " + unitName(k.duration.unit)
				case strings.HasPrefix(f, "upstream "):
					l.fields[i] = what + ": " + unitName(k.upstream.unit)
				}
			}
		}
		return
	}
	if l.name == "JSON lines" && stats["request_time"] != nil && (stats["remote_addr"] != nil || stats["upstream_response_time"] != nil) {
		l.name = "nginx JSON"
	}
}
