// Package metricspage reads pages of metrics in the text of Prometheus, as client libraries and exporters
// serve them at /metrics (https://prometheus.io/docs/instrumenting/exposition_formats/):
//
//	go_goroutines 61                                          Go's client_golang
//	jvm_gc_pause_seconds_sum{action="end of major GC"} 4.1    Micrometer, client_java, OpenTelemetry, the JMX exporter
//	dotnet_threadpool_queue_length 412                        prometheus-net, OpenTelemetry
//	redis_latest_fork_seconds 1.9                             redis_exporter
//	node_disk_io_time_seconds_total{device="sda"} 5014        node_exporter
//
// A page shows the values of a moment, and the counts since the start: one page gives facts, and two or more
// give rates. Metrics that other formats read in their own form are converted to it and read by them: a page of
// redis_exporter becomes INFO, one of node_exporter files of /proc, the collections of a JVM rows of jstat.
//
// Where pages mislead:
//   - Few of them say when they are from. A comment or a header with the time before each tells (a line "# 2026-11-21T14:02:00Z",
//     as date prints it), a time behind a sample, node_time_seconds, or the start of the process with its uptime.
//   - Where nothing does, a sample that comes again begins the next page.
//   - What client libraries call collections of CMS's old generation, of ZGC and Shenandoah are cycles that run beside the
//     program: their time is not that of pauses, and left out.
package metricspage

import (
	"bytes"
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/format"
)

// Bounds of what is kept.
const (
	maxSamples = 400_000
	maxPages   = 20_000
	maxLabels  = 1024
)

// sample is a line of a page.
type sample struct {
	name, labels string
	v            float64
	line         int64
}

// page is the samples of a moment.
type page struct {
	t       int64 // ns since the epoch, 0 unknown
	line    int64
	samples []sample
}

// reading parses pages.
type reading struct {
	pages   []page
	wanted  func(name string) bool
	seen    map[string]bool
	kept    int
	dropped int64
	strange int64
	first   int64
}

// readPages reads the samples that are wanted from an artifact.
func readPages(ctx context.Context, a *format.Artifact, wanted func(string) bool) (*reading, error) {
	r := &reading{wanted: wanted, seen: make(map[string]bool)}
	r.beginPage(0, 1)
	err := a.Lines(func(l format.Line) bool {
		r.parseLine(bytes.TrimSpace(l.Text), l.Number)
		return l.Number&0xfff != 0 || ctx.Err() == nil
	})
	r.finishPages()
	if err == nil {
		err = ctx.Err()
	}
	return r, err
}

func (r *reading) beginPage(t, line int64) {
	r.pages = append(r.pages, page{t: t, line: line})
	clear(r.seen)
}

// finishPages drops pages without samples, and finds the times of the others.
func (r *reading) finishPages() {
	kept := r.pages[:0]
	for _, p := range r.pages {
		if len(p.samples) == 0 {
			continue
		}
		if p.t == 0 {
			p.t = p.ownTime()
		}
		kept = append(kept, p)
	}
	r.pages = kept
}

// ownTime returns a page's time from its own samples, ns since the epoch, 0 unknown.
func (p *page) ownTime() int64 {
	start, uptime := math.NaN(), math.NaN()
	for _, s := range p.samples {
		switch s.name {
		case "node_time_seconds":
			if s.v > 0 && s.v < 8e9 {
				return int64(s.v * 1e9)
			}
		case "process_start_time_seconds":
			start = s.v
		case "process_uptime_seconds":
			uptime = s.v
		}
	}
	if at := (start + uptime) * 1e9; at > 0 && at < 8e18 {
		return int64(at)
	}
	return 0
}

func (r *reading) parseLine(text []byte, line int64) {
	now := &r.pages[len(r.pages)-1]
	switch {
	case len(text) == 0:
		return
	case text[0] == '#':
		if t := parseTime(strings.TrimSpace(string(text[1:]))); t != 0 && len(r.pages) < maxPages {
			if len(now.samples) == 0 {
				now.t, now.line = t, line
				return
			}
			r.beginPage(t, line)
		}
		return
	case len(text) > 5 && (text[0] == 'D' || text[0] == 'd') && strings.EqualFold(string(text[:5]), "date:"):
		if t := parseTime(strings.TrimSpace(string(text[5:]))); t != 0 && len(r.pages) < maxPages {
			r.beginPage(t, line)
		}
		return
	}
	s, t, ok := sampleOf(string(text))
	if !ok {
		if at := parseTime(string(text)); at != 0 && len(r.pages) < maxPages {
			r.beginPage(at, line)
			return
		}
		if r.strange++; r.first == 0 {
			r.first = line
		}
		return
	}
	if !r.wanted(s.name) {
		return
	}
	if r.kept == maxSamples || len(s.labels) > maxLabels {
		r.dropped++
		return
	}
	s.line = line
	key := s.name + "{" + s.labels
	if (r.seen[key] || t != 0 && now.t != 0 && t != now.t) && len(r.pages) < maxPages {
		r.beginPage(t, line)
		now = &r.pages[len(r.pages)-1]
	}
	r.seen[key] = true
	if now.t == 0 {
		now.t = t
	}
	if s.v-s.v != 0 {
		return // NaN of what is not there
	}
	r.kept++
	now.samples = append(now.samples, s)
}

// sampleOf reads `name{label="value"} 1.5 1700000000000`.
func sampleOf(text string) (s sample, t int64, ok bool) {
	if i := strings.IndexByte(text, '{'); i > 0 {
		j := strings.LastIndexByte(text, '}')
		if j < i {
			return s, 0, false
		}
		s.name, s.labels, text = text[:i], text[i+1:j], text[j+1:]
	} else if i := strings.IndexAny(text, " \t"); i > 0 {
		s.name, text = text[:i], text[i:]
	} else {
		return s, 0, false
	}
	if !isName(s.name) {
		return s, 0, false
	}
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return s, 0, false
	}
	v, err := strconv.ParseFloat(fields[0], 64)
	if err != nil || len(fields) > 1 && fields[1][0] != '#' && strings.Trim(fields[1], "0123456789.-") != "" {
		return s, 0, false
	}
	s.v = v
	if len(fields) > 1 {
		if ms, err := strconv.ParseInt(fields[1], 10, 64); err == nil && ms > 0 && ms < 9e12 {
			t = ms * 1e6
		}
	}
	return s, t, true
}

func isName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == ':' || c >= '0' && c <= '9' && i > 0) {
			return false
		}
	}
	return len(s) > 2 && len(s) < 200
}

// moments are the forms of a time before a page.
var moments = []string{time.RFC3339, "2006-01-02T15:04:05-0700", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05", time.RFC1123}

// parseTime reads a time, ns since the epoch; 0 for other text.
func parseTime(s string) int64 {
	if len(s) < 19 || len(s) > 40 {
		return 0
	}
	if at, ok := format.Dated([]byte(s)); ok {
		return at * 1e9
	}
	for _, layout := range moments {
		if t, err := time.Parse(layout, s); err == nil && t.Year() > 1990 && t.Year() < 2200 {
			return t.UnixNano()
		}
	}
	return 0
}

// label returns the value of a label, "" without it.
func (s *sample) label(name string) string {
	rest := s.labels
	for rest != "" {
		key, value, ok := strings.Cut(rest, `="`)
		if !ok {
			return ""
		}
		key = strings.Trim(key, " ,")
		end := 0
		for end < len(value) && value[end] != '"' {
			if value[end] == '\\' {
				end++
			}
			end++
		}
		end = min(end, len(value))
		if key == name {
			return value[:end]
		}
		rest = value[min(end+1, len(value)):]
	}
	return ""
}

// sumOf adds up the samples of a name for which hold is true or nil; NaN if there is none.
func (p *page) sumOf(name string, hold func(*sample) bool) float64 {
	v := math.NaN()
	for i := range p.samples {
		if s := &p.samples[i]; s.name == name && (hold == nil || hold(s)) {
			if math.IsNaN(v) {
				v = 0
			}
			v += s.v
		}
	}
	return v
}

// firstOf returns the sum of the first of some names that a page has, NaN if none.
func (p *page) firstOf(names ...string) float64 {
	for _, name := range names {
		if v := p.sumOf(name, nil); !math.IsNaN(v) {
			return v
		}
	}
	return math.NaN()
}

// newMatcher returns a function that recognizes text by two wanted samples, because one may stand in any
// log. Their names begin with one of some prefixes.
func newMatcher(wanted func(string) bool, prefixes []string) func([]byte) format.Confidence {
	return func(head []byte) format.Confidence {
		if !slices.ContainsFunc(prefixes, func(p string) bool { return bytes.Contains(head, []byte(p)) }) {
			return format.No
		}
		n := 0
		for line := range bytes.Lines(head) {
			line = bytes.TrimSpace(line)
			if len(line) < 5 || line[0] == '#' || line[0] == '[' || line[0] >= '0' && line[0] <= '9' {
				continue
			}
			end := bytes.IndexAny(line[:min(len(line), 128)], "{ \t")
			if end <= 0 || !wanted(string(line[:end])) {
				continue
			}
			if _, _, ok := sampleOf(string(line)); ok {
				if n++; n == 2 {
					return format.Sure
				}
			}
		}
		return format.No
	}
}
