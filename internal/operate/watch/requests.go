package watch

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/all"
	"github.com/unstall/unstall/internal/operate/watch/rule"
	"github.com/unstall/unstall/internal/operate/watch/sample"
)

// requests counts the requests in a target's access log while the log is recorded.
//
// The user's SLO decides which requests are slow. Without an SLO, requests are slow that take far longer than usual for
// their route ([usually]). A report that always takes long is then not slow, though other pages are faster.
type requests struct {
	slo time.Duration

	mu   sync.Mutex
	logs map[string]*followedLog

	usual map[string]*usually // by route; routes beyond mostRoutes share the entry without a name

	slowMs float64 // of all slow requests so far
}

// followedLog is an access log, or a file that may be one.
type followedLog struct {
	lead   []byte // the first lines, read again with each look: a few lines alone do not show things such as the unit of their times
	leads  int64  // number of lines in lead
	text   []byte
	vain   int // looks that found no requests in the log
	useful bool
	as     []format.Format // formats that found requests: trying all formats costs more than reading
}

const (
	mostText   = 1 << 20 // bytes of a log between two looks; the rest is left out, so requests are sampled
	mostLead   = 64 << 10
	mostInVain = 5
	lookEach   = 5 * time.Second
	mostRoutes = 256
)

// followLog is [record.Options.Follow]. It returns a function that takes the new text of a log, nil for a log that is not
// followed.
func (r *requests) followLog(m capture.Meta) func([]byte) {
	if !m.Lines || !m.Found {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.logs == nil {
		r.logs = make(map[string]*followedLog)
	}
	l := r.logs[m.Name]
	if l == nil {
		l = new(followedLog)
		r.logs[m.Name] = l
	}
	if l.vain >= mostInVain && !l.useful {
		return nil
	}
	return func(p []byte) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if l.vain >= mostInVain && !l.useful {
			return
		}
		if len(l.text)+len(p) > mostText {
			return
		}
		l.text = append(l.text, p...)
	}
}

// countNewRequests counts the requests that came since the last call. It returns nothing for a
// service without an access log.
func (r *requests) countNewRequests(now time.Time) (points []sample.Point) {
	r.mu.Lock()
	var texts []*followedLog
	var names []string
	for name, l := range r.logs {
		if len(l.text) > 0 || l.useful {
			texts, names = append(texts, l), append(names, name)
		}
	}
	type part struct {
		l     *followedLog
		text  []byte // the lead and the new lines after it
		leads int64  // lines already counted
		name  string
		as    []format.Format
	}
	var parts []part
	for i, l := range texts {
		end := bytes.LastIndexByte(l.text, '\n') + 1
		if end > 0 {
			parts = append(parts, part{l, slices.Concat(l.lead, l.text[:end]), l.leads, names[i], l.as})
		} else {
			parts = append(parts, part{l: l})
		}
		l.leadBy(l.text[:end])
		l.text = append(l.text[:0], l.text[end:]...)
	}
	r.mu.Unlock()

	took := make(map[string][]float64) // ms, by route
	count, failed, any := 0, 0, false
	for _, p := range parts {
		n := count
		if len(p.text) > 0 {
			b := incident.NewBundle()
			a := &format.Artifact{Name: p.name, Size: int64(len(p.text)), Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(p.text)), nil }}
			formats := p.as
			if formats == nil {
				formats = all.Formats
			}
			_ = format.Read(context.Background(), formats, a, b) // a file that is not an access log adds no requests
			p.as = readBy(b)
			for i := range b.Requests.Len() {
				if b.Requests.Origin.At(i).Position() > p.leads && b.Requests.Timed(i) {
					count++
					route := b.Names.Text(b.Requests.Route.At(i))
					took[route] = append(took[route], float64(b.Requests.Latency(i))/1e6)
					if o := b.Requests.Outcome.At(i); o == evidence.Failed || o == evidence.TimedOut {
						failed++
					}
				}
			}
		}
		r.mu.Lock()
		if count > n {
			p.l.useful, p.l.as = true, p.as
		} else if len(p.text) > 0 {
			p.l.vain++
			p.l.as = nil // the log's format may have changed
		}
		any = any || p.l.useful
		r.mu.Unlock()
	}
	if !any {
		return nil
	}
	at, over := now.UnixNano(), lookEach.Seconds()
	points = append(points, sample.Point{ID: "requests/rate", At: at, V: float64(count) / over})
	if count == 0 {
		return points
	}
	judged, slow, worst := 0, 0, 0.
	for route, ms := range took {
		worst = max(worst, slices.Max(ms))
		limit := r.slowLimit(route, ms)
		if limit == 0 {
			continue
		}
		judged += len(ms)
		for _, v := range ms {
			if v >= limit {
				slow++
				r.mu.Lock()
				r.slowMs += v
				r.mu.Unlock()
			}
		}
	}
	points = append(points,
		sample.Point{ID: "requests/worst", At: at, V: worst},
		sample.Point{ID: "requests/errors", At: at, V: 100 * float64(failed) / float64(count)})
	if judged == 0 {
		return points
	}
	return append(points,
		sample.Point{ID: "requests/slow", At: at, V: float64(slow) / over},
		sample.Point{ID: "requests/slow-share", At: at, V: 100 * float64(slow) / float64(judged)})
}

// countsAny says whether a log with requests was found.
func (r *requests) countsAny() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range r.logs {
		if l.useful {
			return true
		}
	}
	return false
}

// silentAfter is how long after a target was found it may have counted no requests before a rule about them counts as silent: a log is
// looked at so many times.
const silentAfter = (mostInVain + 1) * lookEach

// rulesOnRequests returns the ids of a user's own rules that need figures of requests. Those that come with unstall may be silent.
func rulesOnRequests(rules []rule.Rule) (ids []string) {
	shipped, err := rule.Shipped()
	if err != nil {
		return nil
	}
	for i := range rules {
		x := &rules[i]
		own := !slices.ContainsFunc(shipped, func(y rule.Rule) bool { return y.ID == x.ID })
		needs := slices.ContainsFunc(append(slices.Clone(x.And), x.Condition), func(c rule.Condition) bool { return strings.HasPrefix(c.Series, "requests/") })
		if own && needs {
			ids = append(ids, x.ID)
		}
	}
	return ids
}

// reportSilentRules says once which of the user's rules cannot hold for a service, because its requests are not counted, and when that
// is over.
func (w *Watcher) reportSilentRules(s *subject) {
	what := "requests " + s.Service
	if s.requests.countsAny() {
		w.reportRecovery(what, "requests of "+s.Service+" are counted")
		return
	}
	if ids := rulesOnRequests(w.opt.Rules); len(ids) > 0 {
		w.reportTrouble(what, fmt.Sprintf("%s: no requests counted for %s: it writes no access log with times that unstall finds, so the rule cannot raise an alarm", strings.Join(ids, ", "), s.Service))
	}
}

// leadBy adds the first lines to the lead until it is full. The caller holds r.mu.
func (l *followedLog) leadBy(text []byte) {
	for len(l.lead) < mostLead && len(text) > 0 {
		n := bytes.IndexByte(text, '\n') + 1
		if len(l.lead)+n > mostLead {
			break
		}
		l.lead, text = append(l.lead, text[:n]...), text[n:]
		l.leads++
	}
}

// readBy returns the formats that found requests. They read the following text without recognizing it again.
func readBy(b *evidence.Bundle) (as []format.Format) {
	if b.Requests.Len() == 0 {
		return nil
	}
	a, _ := b.Requests.Origin.At(0).Artifact()
	for _, f := range all.Formats {
		if slices.Contains(b.Artifacts[a].Formats, f.Name) {
			f.Match = func([]byte) format.Confidence { return format.Sure }
			as = append(as, f)
		}
	}
	return as
}

// slowLimit returns the limit in ms from which requests of a route are slow, and learns from the latencies of this look.
// It returns 0 if the limit is not known yet.
func (r *requests) slowLimit(route string, took []float64) float64 {
	if r.slo > 0 {
		return float64(r.slo) / 1e6
	}
	u := r.usual[route]
	if u == nil {
		if len(r.usual) >= mostRoutes {
			route = ""
		}
		if u = r.usual[route]; u == nil {
			if r.usual == nil {
				r.usual = make(map[string]*usually)
			}
			u = newUsually()
			r.usual[route] = u
		}
	}
	u.addLatencies(took)
	return u.slowLimit()
}
