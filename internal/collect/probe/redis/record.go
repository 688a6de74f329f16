package redis

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe"
)

// Times between requests, and limits of them.
const (
	pingEvery  = 100 * time.Millisecond
	infoEvery  = time.Second
	restEvery  = 10 * time.Second
	costs      = .005 // largest share of a server's time for INFO
	fewClients = 200  // so many clients are listed every listEvery, more of them every restEvery
	listEvery  = 5 * time.Second
	some       = 1000
	many       = 5000 // so many clients are listed once; more are not, because that would delay other clients for 10 ms and more
	fewEvents  = 20
	slowAtOnce = 128 // the usual length of the slow log
	goodbye    = 2 * time.Second
)

// recording is one of a server.
type recording struct {
	place  place
	pid    int
	sink   probe.Sink
	client *client
	asks   []string
	out    io.WriteCloser
	buf    bytes.Buffer
	broken error // error of storing

	denied    map[string]bool // commands that the server refused
	newest    int64           // id of the slow log's newest entry, -1 none
	clients   float64
	cluster   bool
	costs     []time.Duration // of the last answers to INFO
	forbidden []string
	lost      bool // the connection is lost
	listed    bool
}

func recordServer(ctx context.Context, p place, t discover.Target, about evidence.Subject, plan probe.Plan, sink probe.Sink) error {
	if plan.For > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, plan.For, context.DeadlineExceeded)
		defer cancel()
	}
	s, why := p.connectServer(ctx, patience)
	if why != nil {
		if ctx.Err() != nil {
			return nil
		}
		return why
	}
	defer s.client.Close()
	out, err := sink.Create(capture.Meta{Name: "redis.txt", Probe: name, Origin: p.shown, About: about, Continues: true})
	if err != nil {
		return fmt.Errorf("redis.txt: %w", err)
	}
	r := &recording{place: p, pid: t.PID, sink: sink, client: s.client, asks: s.asks, out: out, denied: make(map[string]bool), newest: -1}
	log := r.findLog(ctx, t, about)
	r.recordConstants(ctx)
	r.askUntilEnd(ctx)
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbye)
	r.recordLast(last)
	cancel()
	r.tellForbidden()
	if log != nil {
		log.storeAppended()
	}
	return errors.Join(r.broken, out.Close())
}

// askUntilEnd sends requests until the recording ends. A lost server may come back.
func (r *recording) askUntilEnd(ctx context.Context) {
	ticks := time.NewTicker(pingEvery)
	defer ticks.Stop()
	var info, rest, list time.Time
	for ctx.Err() == nil && r.broken == nil {
		now := time.Now()
		switch {
		case now.Sub(info) >= r.infoInterval():
			info = now
			r.recordInfo(ctx)
			r.recordSlowLog(ctx)
		case now.Sub(rest) >= restEvery:
			rest = now
			r.recordLatency(ctx)
		case r.isListingDue(now.Sub(list)):
			list = now
			r.recordClients(ctx)
		case r.lost: // INFO shows whether it is back
		default:
			r.ping(ctx)
		}
		r.flush()
		select {
		case <-ctx.Done():
		case <-ticks.C:
		}
	}
}

// infoInterval returns the time between requests for INFO, by the shortest of its last answers' times.
func (r *recording) infoInterval() time.Duration {
	if len(r.costs) == 0 {
		return infoEvery
	}
	least := r.costs[0]
	for _, c := range r.costs {
		least = min(least, c)
	}
	return max(infoEvery, time.Duration(float64(least)/costs)) - pingEvery/2 // at a tick
}

// isListingDue says whether to list clients now, by the time since they were listed.
func (r *recording) isListingDue(since time.Duration) bool {
	switch {
	case r.denied["CLIENT LIST"], r.lost:
		return false
	case r.clients <= fewClients:
		return since >= listEvery
	case r.clients <= some:
		return since >= restEvery
	case r.clients <= many:
		return !r.listed
	}
	if !r.listed {
		r.listed = true
		r.sink.Lack(probe.Lack{What: "where clients are", Why: fmt.Sprintf("%.0f are connected: to list them would keep the server for %.0f ms", r.clients, r.clients*.002)})
	}
	return false
}

// askOnce sends a request, and writes when the answer came and how long it took. It notes a refused command and does not send it again; false:
// there is no answer.
func (r *recording) askOnce(ctx context.Context, args ...any) (any, bool) {
	what := fmt.Sprint(args[0])
	if len(args) > 1 && args[0] != "INFO" {
		what += " " + fmt.Sprint(args[1])
	}
	if r.denied[what] {
		return nil, false
	}
	began := time.Now()
	v, err := r.client.Do(ctx, args...)
	now := time.Now()
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return nil, false
	case isAnswer(err):
		r.noteRefusal(what, err)
		return nil, false
	default:
		if !r.lost {
			r.lost = true
			r.sink.Warnf("%s: the connection broke: %s; unstall tries again", r.place.shown, oneLineError(err))
		}
		return nil, false
	}
	r.lost = false
	head := what
	if what == "LATENCY HISTORY" {
		head += " " + fmt.Sprint(args[2])
	}
	fmt.Fprintf(&r.buf, "== %d %s of %d took %d ns ==\n", now.UnixNano(), head, r.pid, now.Sub(began).Nanoseconds())
	return v, true
}

// noteRefusal notes that a server refuses a command. While it loads its data or runs a script, it refuses many commands that it will answer
// later; those are not noted.
func (r *recording) noteRefusal(what string, err error) {
	text := oneLineError(err)
	for _, passing := range []string{"LOADING", "BUSY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN"} {
		if strings.HasPrefix(text, passing) {
			return
		}
	}
	r.denied[what] = true
	l := probe.Lack{What: about[what], Why: what + ": " + text}
	switch {
	case l.What == "":
		return
	case strings.HasPrefix(text, "NOPERM"):
		r.forbidden = append(r.forbidden, what)
		return
	case strings.HasPrefix(text, "ERR unknown command"), strings.HasPrefix(text, "ERR unknown subcommand"), strings.HasPrefix(text, "ERR Unknown subcommand"):
		if what == "LATENCY HISTOGRAM" || what == "MEMORY STATS" {
			return // versions before 7.0 and 4.0 have none
		}
		word, _, _ := strings.Cut(what, " ")
		l.Why = word + " is renamed or switched off (rename-command)"
	}
	r.sink.Lack(l)
}

// tellForbidden reports once what this user may not request. A user without one right usually lacks several, and the same helps for all.
func (r *recording) tellForbidden() {
	if len(r.forbidden) == 0 {
		return
	}
	slices.Sort(r.forbidden)
	var of []string
	for _, what := range r.forbidden {
		if text := about[what]; text != "" && !slices.Contains(of, text) {
			of = append(of, text)
		}
	}
	r.sink.Lack(probe.Lack{What: strings.Join(of, ", "), Why: "this user may not call " + strings.Join(r.forbidden, ", "), Do: fmt.Sprintf("ACL SETUSER %s %s", userName(r.place.user), allowed)})
}

// about is the subject of the answers.
var about = map[string]string{"INFO": "statistics", "SLOWLOG GET": "slow commands", "LATENCY LATEST": "latency events", "LATENCY HISTORY": "latency events", "LATENCY HISTOGRAM": "how long commands take",
	"CONFIG GET": "settings", "CLIENT LIST": "where clients are", "MEMORY STATS": "what memory is used for", "CLUSTER INFO": "state of the cluster"}

func userName(name string) string {
	if name == "" {
		return "default"
	}
	return name
}

func (r *recording) flush() {
	if r.buf.Len() > 0 && r.broken == nil {
		_, r.broken = r.out.Write(r.buf.Bytes())
	}
	r.buf.Reset()
}

func (r *recording) ping(ctx context.Context) { r.askOnce(ctx, "PING") }

func (s *server) askInfo(ctx context.Context) (string, error) {
	text, err := s.client.askText(ctx, s.asks[0], s.asks[1])
	if err != nil {
		return "", fmt.Errorf("%s: %s", s.shown, oneLineError(err))
	}
	return text, nil
}

func (r *recording) recordInfo(ctx context.Context) {
	began := time.Now()
	v, ok := r.askOnce(ctx, r.asks[0], r.asks[1])
	text, is := v.(string)
	if !ok || !is {
		return
	}
	if r.costs = append(r.costs, time.Since(began)); len(r.costs) > 5 {
		r.costs = r.costs[1:]
	}
	r.clients, _ = strconv.ParseFloat(infoField(text, "connected_clients"), 64)
	r.cluster = infoField(text, "cluster_enabled") == "1"
	r.buf.WriteString(redactInfo(text))
}

// recordSlowLog requests new entries of the slow log; usually there are none.
func (r *recording) recordSlowLog(ctx context.Context) {
	for _, n := range []int{8, slowAtOnce} {
		at := r.buf.Len()
		v, ok := r.askOnce(ctx, "SLOWLOG", "GET", n)
		all, is := v.([]any)
		if !ok || !is {
			return
		}
		var fresh []any
		oldest := int64(-1)
		for _, e := range all {
			id := idOf(e)
			if oldest = id; id > r.newest || r.newest > idOf(all[0]) { // the server restarted
				fresh = append(fresh, redactSlowEntry(e))
			}
		}
		if n < slowAtOnce && len(all) == n && oldest > r.newest { // there may be more
			r.buf.Truncate(at)
			continue
		}
		if len(all) > 0 {
			r.newest = idOf(all[0])
		}
		writeAnswer(&r.buf, fresh, "")
		return
	}
}

func idOf(entry any) int64 {
	if e, ok := entry.([]any); ok && len(e) > 0 {
		if id, ok := e[0].(int64); ok {
			return id
		}
	}
	return -1
}

// recordLatency requests latency events, which exist only if the latency monitor is on, and how long commands take.
func (r *recording) recordLatency(ctx context.Context) {
	if v, ok := r.askOnce(ctx, "LATENCY", "LATEST"); ok {
		writeAnswer(&r.buf, v, "")
		events, _ := v.([]any)
		for _, e := range events[:min(len(events), fewEvents)] {
			of, ok := e.([]any)
			if !ok || len(of) == 0 {
				continue
			}
			if v, ok := r.askOnce(ctx, "LATENCY", "HISTORY", of[0]); ok {
				writeAnswer(&r.buf, v, "")
			}
		}
	}
	if v, ok := r.askOnce(ctx, "LATENCY", "HISTOGRAM"); ok {
		writeAnswer(&r.buf, v, "")
	}
	if r.cluster {
		if v, ok := r.askOnce(ctx, "CLUSTER", "INFO"); ok {
			r.buf.WriteString(redactInfo(fmt.Sprint(v)))
		}
	}
}

func (r *recording) recordClients(ctx context.Context) {
	if v, ok := r.askOnce(ctx, "CLIENT", "LIST"); ok {
		r.buf.WriteString(redactClients(fmt.Sprint(v)))
		r.listed = true
	}
}

// recordConstants requests settings and memory, which hardly change.
func (r *recording) recordConstants(ctx context.Context) {
	r.recordSettings(ctx)
	r.recordMemory(ctx)
	r.flush()
}

func (r *recording) recordMemory(ctx context.Context) {
	if v, ok := r.askOnce(ctx, "MEMORY", "STATS"); ok {
		writeAnswer(&r.buf, dropNested(v), "")
	}
}

// dropNested leaves out nested data of each database, because a node of a cluster may have many.
func dropNested(v any) any {
	all, _ := v.([]any)
	var out []any
	for i := 0; i+1 < len(all); i += 2 {
		if _, nested := all[i+1].([]any); !nested {
			out = append(out, all[i], all[i+1])
		}
	}
	return out
}

// recordLast sends all requests once more at the end, so that counters cover the whole time.
func (r *recording) recordLast(ctx context.Context) {
	if r.lost || r.broken != nil {
		return
	}
	r.recordInfo(ctx)
	r.recordSlowLog(ctx)
	r.recordLatency(ctx)
	if r.clients <= some {
		r.recordClients(ctx)
	}
	r.recordMemory(ctx)
	r.flush()
}
