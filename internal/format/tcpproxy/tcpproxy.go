// Package tcpproxy reads what Envoy logs of TCP connections, in JSON: how long each was open, and how it ended.
//
//	{"start_time":"2022-09-10T14:37:14.956Z","duration":5301,"response_code":0,"response_flags":"-","bytes_received":17341,"bytes_sent":8453,
//	 "upstream_cluster":"app","upstream_host":"10.0.0.5:8443",…}
//
// https://www.envoyproxy.io/docs/envoy/latest/configuration/observability/access_log/usage, Envoy 1.10 to 1.35, with the fields' names of users and
// Istio. A connection is no request: its length does not show how quick its answers were. Its flags matter: UO:
// the upstream had no connection left; UF: no connection could be made; URX: too many attempts.
package tcpproxy

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/format"
)

// Format reads such a log.
var Format = format.Format{
	Name:  "tcp-proxy",
	About: "TCP connections as Envoy logs them in JSON: how long they were open, and which the upstream had no place for",
	Match: matchHead,
	Parse: parseArtifact,
}

// Bounds of what is kept.
const (
	mostLine     = 32 << 10
	mostKept     = 1_000_000
	mostClusters = 200
	mostName     = 100
)

// entry is a connection.
type entry struct {
	start    int64 // ns
	duration int64 // ns
	flags    string
	cluster  string
}

// parseEntry reads a line of a connection, false for a line of a request: that has a method or a
// status.
func parseEntry(l []byte) (e entry, ok bool) {
	if len(l) > mostLine || !bytes.HasPrefix(bytes.TrimLeft(l, " \t"), []byte("{")) || !bytes.Contains(l, []byte(`"response_flags"`)) || !bytes.Contains(l, []byte(`"duration"`)) {
		return e, false
	}
	var x struct {
		Start    *string         `json:"start_time"`
		Duration json.RawMessage `json:"duration"`
		Code     json.RawMessage `json:"response_code"`
		Method   *string         `json:"method"`
		Method2  *string         `json:"req_method"`
		Received json.RawMessage `json:"bytes_received"`
		Flags    string          `json:"response_flags"`
		Cluster  string          `json:"upstream_cluster"`
	}
	if json.Unmarshal(l, &x) != nil || x.Start == nil || x.Received == nil || isNamed(x.Method) || isNamed(x.Method2) {
		return e, false
	}
	if code := parseNumber(x.Code); code > 0 {
		return e, false
	}
	ms := parseNumber(x.Duration)
	t, err := time.Parse(time.RFC3339Nano, *x.Start)
	if err != nil || ms < 0 || ms > 1e12 || t.Year() < 2000 || t.Year() > 2200 {
		return e, false
	}
	cluster := strings.ToValidUTF8(x.Cluster[:min(len(x.Cluster), mostName)], "?")
	return entry{t.UnixNano(), int64(ms * 1e6), x.Flags[:min(len(x.Flags), mostName)], cluster}, true
}

func isNamed(s *string) bool { return s != nil && *s != "" && *s != "-" }

// parseNumber reads 12 and "12"; −1 of anything else.
func parseNumber(raw json.RawMessage) float64 {
	v, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64)
	if err != nil {
		return -1
	}
	return v
}

func matchHead(head []byte) format.Confidence {
	if !bytes.Contains(head, []byte(`"response_flags"`)) {
		return format.No
	}
	for l := range bytes.Lines(head) {
		if _, ok := parseEntry(l); ok {
			return format.Sure
		}
	}
	return format.No
}

// cluster is the connections to one upstream.
type cluster struct {
	name      string
	n         int64
	durations []int64
	flags     map[string]int64
	line      int64
	over      int64 // line of the first for which there was no place
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	by := make(map[string]*cluster)
	var all []*cluster
	kept, dropped := 0, int64(0)
	err := a.Lines(func(l format.Line) bool {
		if l.Number&0xfff == 0 && ctx.Err() != nil {
			return false
		}
		e, ok := parseEntry(l.Text)
		if !ok {
			return true
		}
		c := by[e.cluster]
		if c == nil {
			if len(all) == mostClusters {
				dropped++
				return true
			}
			c = &cluster{name: e.cluster, flags: make(map[string]int64), line: l.Number}
			by[e.cluster] = c
			all = append(all, c)
		}
		c.n++
		if kept < mostKept {
			kept++
			c.durations = append(c.durations, e.duration)
		}
		for f := range strings.SplitSeq(e.flags, ",") {
			if f != "" && f != "-" && len(c.flags) < 40 {
				c.flags[f]++
			}
			if f == "UO" && c.over == 0 {
				c.over = l.Number
			}
		}
		return true
	})
	if err := format.EndReading(ctx, b, err, len(all) > 0, "the log", "tcpproxy: no TCP connection in it"); err != nil {
		return err
	}
	*b.Clock() = evidence.Clock{Name: "times of the log", Error: 1e6, Resolution: 1e6}
	t := evidence.Table{Title: "TCP connections through the proxy", Columns: []string{"upstream", "connections", "open s, median", "open s, longest", "flags"}}
	for _, c := range all {
		slices.Sort(c.durations)
		var flags []string
		for _, f := range sortedKeys(c.flags) {
			flags = append(flags, fmt.Sprintf("%s %d", f, c.flags[f]))
		}
		median, most := "", ""
		if n := len(c.durations); n > 0 {
			median, most = formatSeconds(stats.Quantile(c.durations, .5)), formatSeconds(c.durations[n-1])
		}
		t.Rows = append(t.Rows, []string{c.name, strconv.FormatInt(c.n, 10), median, most, strings.Join(flags, ", ")})
		subject := b.Subject(evidence.Subject{Kind: evidence.Dependency, Name: c.name})
		if n := c.flags["UO"]; n > 0 {
			b.FactAt(subject, evidence.FactPlacesUsedUp, "connections"+evidence.Link+"circuit_breakers.max_connections", float64(n), c.over)
		}
		if n := c.flags["UF"] + c.flags["URX"]; n > 0 {
			b.Warnf(c.line, "connections that could not be made to %s: %d of %d", c.name, n, c.n)
		}
	}
	b.Table(t)
	b.Warnf(all[0].line, "these are TCP connections, not requests: how long one was open does not say how quick its answers were")
	if dropped > 0 {
		b.Warnf(0, "connections to more than %d upstreams, left out: %d", mostClusters, dropped)
	}
	return nil
}

func formatSeconds(ns int64) string { return fmt.Sprintf("%.4g", float64(ns)/1e9) }

func sortedKeys(m map[string]int64) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
