package accesslog

import (
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// products write JSON, or pairs, with documented units and stamps; they are recognised by their
// keys.
var products = []struct {
	name     string
	keys     []string
	stamp    evidence.Stamp
	duration map[string]int64 // units of the keys that do not name them
}{
	{"Traefik JSON", []string{"StartUTC", "Duration"}, evidence.StampStart, map[string]int64{"Duration": 1, "OriginDuration": 1}},
	{"Traefik JSON", []string{"StartLocal", "Duration"}, evidence.StampStart, map[string]int64{"Duration": 1, "OriginDuration": 1}},
	{"Envoy JSON", []string{"start_time", "duration", "response_code"}, evidence.StampStart, map[string]int64{"duration": 1e6, "upstream_service_time": 1e6}},
	{"Envoy", []string{"response_flags", "duration"}, evidence.StampStart, map[string]int64{"duration": 1e6, "upstream_service_time": 1e6}},
	{"Envoy", []string{"response_flag", "duration"}, evidence.StampStart, map[string]int64{"duration": 1e6, "upstream_service_time": 1e6}},
	{"Caddy JSON", []string{"ts", "request.uri", "duration"}, evidence.StampCompletion, map[string]int64{"duration": 1e9}},
}

// envoyParts are Envoy's keys for a part of a request whose names others use for a request's duration, and
// the part that each means: Envoy's REQUEST_DURATION ends when the request was received; its RESPONSE_DURATION begins with the
// request and ends when the upstream began to answer
// (https://www.envoyproxy.io/docs/envoy/latest/configuration/observability/access_log/usage).
var envoyParts = map[string]bool{"request_duration": true, "request_tx_duration": true, "response_duration": true, "response_tx_duration": true}

// envoyPart says whether lines are Envoy's and have a part of a request.
func envoyPart(keys []*keyStats, part string) bool {
	has := func(name string) bool {
		return slices.ContainsFunc(keys, func(s *keyStats) bool { return s.key == name && (name != part || s.isNearlyAll(len(s.numbers))) })
	}
	return has("start_time") && has("duration") && has("response_code") && has(part)
}

// withoutParts leaves out keys of a product that are not the duration of a request.
func withoutParts(keys []*keyStats) []*keyStats {
	has := func(name string) bool {
		return slices.ContainsFunc(keys, func(s *keyStats) bool { return s.key == name })
	}
	if !has("start_time") || !has("duration") || !has("response_code") {
		return keys
	}
	return slices.DeleteFunc(slices.Clone(keys), func(s *keyStats) bool { return envoyParts[s.key] })
}

// applyProduct replaces inferred units and stamps by those that the product documents.
func applyProduct(l *layout, stats map[string]*keyStats) {
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
