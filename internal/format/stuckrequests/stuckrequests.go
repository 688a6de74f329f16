// Package stuckrequests reads what application servers of the JVM log of requests that have taken too long, with the stack of their threads:
//
//	… Thread [http-nio-8080-exec-1] (id=[22]) has been active for [125,838] milliseconds (since […]) to serve the same request for […] and may be stuck …  Tomcat
//	<BEA-000337> <[STUCK] ExecuteThread: '35' for queue: '…' has been busy for "608" seconds working on the request …                                       WebLogic
//	WSVR0605W: Thread "WebContainer : 1" (0000003b) has been active for 706023 milliseconds and may be hung. …                                              WebSphere
//	TRAS0112W: Request AAAv/1g_AAB has been running on thread 00000032 for at least 10003.571ms. …                                                          Liberty
//		at java.net.SocketInputStream.socketRead0(Native Method)
//
// Sources: StuckThreadDetectionValve.java of Tomcat (6 to 11), messages BEA-000337 of WebLogic (8 to 14), WSVR0605W of WebSphere (5 to 9) and
// TRAS0112W of Liberty. Each tells of the same request again while it lasts.
//
// Such a log has only requests that are too slow. A request whose innermost frame reads from the network waits for an answer.
package stuckrequests

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/java"
)

// Format reads such a log.
var Format = format.Format{
	Name:  "stuck-requests",
	About: "requests that Tomcat, WebLogic, WebSphere and Liberty log as stuck, hung or slow, with the stacks of their threads",
	Match: matchHead,
	Parse: parseArtifact,
}

// Bounds of what is kept.
const (
	mostLine     = 8 << 10
	mostName     = 120
	mostRequests = 10_000
	mostBefore   = 40 // lines between the message and its stack: headers of the request
	mostShown    = 10
)

// kind is a message.
type kind struct {
	mark          []byte
	threadBefore  string // the thread stands before the mark, behind this
	threadAfter   string // or behind it, up to this
	took, takenBy string // the time stands between these, behind the mark
	unit          float64
	grouped       bool // its digits, by the locale
}

var kinds = []kind{
	{[]byte(" has been active for ["), "Thread [", "", "", "] milliseconds", 1e6, true},
	{[]byte(" has been busy for \""), "ExecuteThread: '", "", "", "\" seconds working on the request", 1e9, false},
	{[]byte("WSVR0605W: Thread \""), "", "\"", " has been active for ", " milliseconds", 1e6, false},
	{[]byte("TRAS0112W: Request "), "", " has been running", " for at least ", "ms", 1e6, false},
}

func hasMark(text []byte) bool {
	return slices.ContainsFunc(kinds, func(k kind) bool { return bytes.Contains(text, k.mark) })
}

// parseHead reads the line that tells of a request: its thread, or what else it is told apart by, and how long it has taken (ns).
func parseHead(l []byte) (thread string, took float64, ok bool) {
	for i := range kinds {
		k := &kinds[i]
		before, after, found := bytes.Cut(l, k.mark)
		if !found {
			continue
		}
		text := string(after)
		if k.threadBefore != "" {
			n := bytes.LastIndex(before, []byte(k.threadBefore))
			if n < 0 {
				continue
			}
			thread = string(before[n+len(k.threadBefore):])
			thread = thread[:len(thread)-len(strings.TrimLeft(thread, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:#@/ "))]
		} else {
			thread, text, _ = strings.Cut(text, k.threadAfter)
		}
		if k.took != "" {
			_, text, found = strings.Cut(text, k.took)
		}
		digits, _, ended := strings.Cut(text, k.takenBy)
		v := parseNumber(digits, k.grouped)
		if found && ended && v > 0 && thread != "" && len(thread) <= mostName {
			return thread, v * k.unit, true
		}
	}
	return "", 0, false
}

// parseNumber reads "706023" and "10003.571", and, where the locale groups digits, "125,838", "125.838" and "125 838"; 0 of anything else.
func parseNumber(s string, grouped bool) float64 {
	if grouped {
		s = strings.NewReplacer(",", "", ".", "", " ", "", "\u00a0", "", "\u202f", "", "’", "", "'", "").Replace(s)
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v >= 0 && v < 1e12) {
		return 0
	}
	return v
}

// request is one that took too long.
type request struct {
	thread  string
	took    float64 // ns, at the last time it was told of
	line    int64
	network bool
	inner   string // the innermost frame
	where   string // the innermost that is no library's
	library string // the innermost that is not the JDK's
	frames  int
}

// findPlace returns where the request was, "" unknown.
func (r *request) findPlace() string { return cmp.Or(r.where, r.library, r.inner) }

func (r *request) addFrame(function string) {
	r.frames++
	if r.inner == "" {
		r.inner = function
		r.network = java.WaitOf(function) == java.Network
	}
	if r.library == "" && !strings.HasPrefix(function, "java.") && !strings.HasPrefix(function, "sun.") && !strings.HasPrefix(function, "jdk.") {
		r.library = function
	}
	if r.where == "" && !java.InLibrary(function) {
		r.where = function
	}
}

func matchHead(head []byte) format.Confidence {
	if !hasMark(head) {
		return format.No
	}
	for l := range bytes.Lines(head) {
		if len(l) <= mostLine && hasMark(l) {
			if _, _, ok := parseHead(l); ok {
				return format.Sure
			}
		}
	}
	return format.No
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	all := make(map[string]*request)
	var order []*request
	var open *request
	waited, dropped := 0, int64(0)
	err := a.Lines(func(l format.Line) bool {
		if l.Number&0xfff == 0 && ctx.Err() != nil {
			return false
		}
		if len(l.Text) <= mostLine && hasMark(l.Text) {
			if thread, took, ok := parseHead(l.Text); ok {
				open, waited = nil, 0
				old := all[thread]
				switch {
				case old != nil && took > old.took: // the same request, told of again
					*old = request{thread: thread, took: took, line: l.Number}
					open = old
				case len(order) == mostRequests:
					dropped++
				default:
					open = &request{thread: thread, took: took, line: l.Number}
					all[thread] = open
					order = append(order, open)
				}
				return true
			}
		}
		if open == nil {
			return true
		}
		if function, ok := java.ParseFrame(l.Text); ok {
			open.addFrame(function)
			return true
		}
		if waited++; open.frames > 0 && len(bytes.TrimSpace(l.Text)) > 0 || waited > mostBefore {
			open = nil
		}
		return true
	})
	if err := format.EndReading(ctx, b, err, len(order) > 0, "the log", "stuckrequests: no message about a request that takes too long in it"); err != nil {
		return err
	}
	emitRequests(b, order)
	if dropped > 0 {
		b.Warnf(0, "more than %d requests, left out: %d", mostRequests, dropped)
	}
	return nil
}

// emitRequests says how many requests took too long, and at which place most of them wait for the network.
func emitRequests(b *evidence.Builder, order []*request) {
	*b.Clock() = evidence.Clock{Name: "no times", Error: evidence.Unanchored}
	subject := b.Subject(evidence.Subject{Kind: evidence.Process, Runtime: "jvm"})
	type spot struct {
		place string
		n     int
		most  float64
		line  int64
		await bool
	}
	spots := make(map[string]*spot)
	var sorted []*spot
	bare := 0
	for _, r := range order {
		if r.frames == 0 {
			bare++
		}
		key := r.findPlace()
		if r.network {
			key += evidence.Link
		}
		s := spots[key]
		if s == nil {
			s = &spot{place: r.findPlace(), await: r.network, line: r.line}
			spots[key] = s
			sorted = append(sorted, s)
		}
		s.n++
		if r.took > s.most {
			s.most, s.line = r.took, r.line
		}
	}
	sorting.Short(sorted, func(x, y *spot) int {
		return cmp.Or(cmp.Compare(y.n, x.n), cmp.Compare(y.most, x.most), cmp.Compare(x.place, y.place))
	})
	t := evidence.Table{Title: "where requests were that took too long", Columns: []string{"in", "requests", "longest s", ""}}
	for _, s := range sorted[:min(mostShown, len(sorted))] {
		what := ""
		if s.await {
			what = "waits for the network"
		}
		t.Rows = append(t.Rows, []string{cmp.Or(s.place, "(no stack)"), strconv.Itoa(s.n), fmt.Sprintf("%.4g", s.most/1e9), what})
	}
	b.Table(t)
	b.FactAt(subject, evidence.FactSlowSeen, "", float64(len(order)-bare), order[0].line)
	for _, s := range sorted {
		if s.await {
			b.FactAt(subject, evidence.FactSlowAwait, s.place, float64(s.n), s.line)
			b.FactAt(subject, evidence.FactSlowMost, s.place, s.most, s.line)
			break
		}
	}
}
