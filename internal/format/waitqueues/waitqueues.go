// Package waitqueues reads tables in which a server counts what works and what waits behind it:
//
//	node_name name   active queue rejected                         Elasticsearch 1 to 9, OpenSearch: _cat/thread_pool?v
//	srv2      search     37   769     1013
//
//	Pool Name      Active  Pending  Completed  Blocked  All time blocked     Cassandra 0.8 to 5: nodetool tpstats, and StatusLogger in its log
//	MutationStage      32    48211  904411207        0                 0
//	Message type   Dropped
//	MUTATION        812044
//
//	insert query … qrw arw net_in net_out conn                     mongostat 2 to 100
//	    12    31 … 0|0 1|0  1.40k   69.0k   31
//
//	Active connections: 291                                        nginx: stub_status
//	server accepts handled requests
//	 16630948 16630948 31070465
//	Reading: 6 Writing: 179 Waiting: 106
//
// and statistics of Envoy and HAProxy (proxies.go).
//
// https://www.elastic.co/docs/api/doc/elasticsearch/operation/operation-cat-thread-pool, StatusLogger.java and TpStatsPrinter.java of Cassandra,
// https://www.mongodb.com/docs/database-tools/mongostat/. What was rejected or dropped is counted since the server's start, what waits is of one moment.
package waitqueues

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/format"
)

// Format reads such tables.
var Format = format.Format{
	Name:  "wait-queues",
	About: "what waits in a server's queues: _cat/thread_pool of Elasticsearch, nodetool tpstats and StatusLogger of Cassandra, mongostat, nginx's stub_status, /stats of Envoy, show stat of HAProxy",
	Match: func(head []byte) format.Confidence {
		p := parser{}
		for l := range bytes.Lines(head) {
			p.parseLine(string(l[:min(len(l), mostLine)]), 1)
			if len(p.all)+len(p.order) > 0 {
				return format.Sure
			}
		}
		return format.No
	},
	Parse: parseArtifact,
}

// Bounds of what is kept, and of what is shown.
const (
	mostLine  = 4096
	mostPools = 5000
	mostName  = 80
	mostShown = 20
)

// A queue stands if standing times as much waits as works, or as much as works while the server rejects or drops work: of less a pool may work
// off a burst (M/M/c: of a pool that is busy 90 % of the time ten for each thread wait in less than one moment of 10,000).
const standing = 10

// leastMoments is in how many lines of mongostat a queue must be: one may be a moment.
const leastMoments = 2

// pool is a row, or several of one name.
type pool struct {
	server, name    string
	works, waits    int64 // where most waits
	lost            int64 // rejected, dropped
	looks, standing int64
	places          int64 // how many there are, 0 as many as work
	line            int64
}

type parser struct {
	layout  string   // the server of the rows that follow
	columns []string // of Elasticsearch's
	by      map[string]*pool
	all     []*pool
	dropped int64 // messages of Cassandra
	partial bool  // rows of messages follow

	unhandled int64 // connections that nginx dropped

	clusters map[string]*cluster // of Envoy
	order    []*cluster
}

const (
	elasticsearch = "Elasticsearch"
	cassandra     = "Cassandra"
	mongo         = "MongoDB"
	nginx         = "nginx"
)

func (p *parser) parseLine(text string, line int64) {
	if _, rest, ok := strings.Cut(text, " messages were dropped in last "); ok {
		_, n, _ := strings.Cut(rest, ": ")
		p.dropped += wholeOf(leadingDigits(n))
		return
	}
	if p.parseCluster(text, line) {
		return
	}
	if columns, ok := isStatHeading(text); ok {
		p.layout, p.columns = haproxy, columns
		return
	}
	if p.layout == haproxy && p.parseStat(text, line) {
		return
	}
	f := strings.Fields(text)
	switch {
	case len(f) < 2:
		return
	case strings.Contains(text, "Pool Name ") && slices.Contains(f, "Active") && slices.Contains(f, "Pending"):
		p.layout, p.partial = cassandra, false
		return
	case p.layout == cassandra && f[0] == "Message" && slices.Contains(f, "Dropped"):
		p.partial = true
		return
	case slices.Contains(f, "name") && slices.Contains(f, "active") && slices.Contains(f, "queue"):
		p.layout, p.columns = elasticsearch, f
		return
	case slices.Contains(f, "arw") && slices.Contains(f, "qrw") || slices.Contains(f, "ar|aw") && slices.Contains(f, "qr|qw"):
		p.layout = mongo
		return
	case slices.Equal(f, []string{"server", "accepts", "handled", "requests"}):
		p.layout = nginx
		return
	}
	switch p.layout {
	case elasticsearch:
		p.parseElasticsearch(f, line)
	case cassandra:
		p.parseCassandra(f, line)
	case mongo:
		p.parseMongo(f, line)
	case nginx:
		p.parseNginx(f, line)
	}
}

// parseNginx reads nginx's status: connections since its start, then those at work. Those that wait are idle: their clients keep them open. What was
// accepted and not handled was dropped, as all worker_connections were in use.
func (p *parser) parseNginx(f []string, line int64) {
	switch {
	case len(f) == 3 && isWhole(f[0]) && isWhole(f[1]) && isWhole(f[2]):
		p.unhandled = max(0, wholeOf(f[0])-wholeOf(f[1]))
	case len(f) == 6 && f[0] == "Reading:" && f[2] == "Writing:" && isWhole(f[1]) && isWhole(f[3]):
		p.addPool(nginx, "connections", wholeOf(f[1])+wholeOf(f[3]), 0, p.unhandled, line)
	}
}

func (p *parser) parseElasticsearch(f []string, line int64) {
	if len(f) != len(p.columns) {
		return
	}
	column := func(names ...string) (string, bool) {
		for _, n := range names {
			if i := slices.Index(p.columns, n); i >= 0 {
				return f[i], true
			}
		}
		return "", false
	}
	name, _ := column("name")
	active, _ := column("active")
	queue, _ := column("queue")
	rejected, _ := column("rejected")
	if !isWhole(active) || !isWhole(queue) {
		return
	}
	p.addPool(elasticsearch, name, wholeOf(active), wholeOf(queue), wholeOf(rejected), line)
}

// parseCassandra reads a row from its end: before it the log may have a level, a time and a class.
func (p *parser) parseCassandra(f []string, line int64) {
	if p.partial {
		if len(f) >= 2 && isWhole(f[1]) && f[0] == strings.ToUpper(f[0]) {
			p.dropped += wholeOf(f[1])
		}
		return
	}
	n := len(f)
	for n > 0 && (isWhole(f[n-1]) || f[n-1] == "N/A") {
		n--
	}
	if n == 0 || len(f)-n < 3 || !isWhole(f[n]) || !isWhole(f[n+1]) || !strings.ContainsFunc(f[n-1], func(r rune) bool { return r >= 'a' && r <= 'z' }) {
		return
	}
	p.addPool(cassandra, f[n-1], wholeOf(f[n]), wholeOf(f[n+1]), 0, line)
}

// parseMongo reads a row: operations that wait, and that work, each of reads and writes, stand side by side. Which column they are cannot be told by counting,
// as some are blank.
func (p *parser) parseMongo(f []string, line int64) {
	for i := range len(f) - 1 {
		waits, ok := pairOf(f[i])
		works, ok2 := pairOf(f[i+1])
		if ok && ok2 {
			p.addPool(mongo, "reads and writes", works, waits, 0, line)
			return
		}
	}
}

// pairOf adds up "3|12", of reads and of writes.
func pairOf(s string) (sum int64, ok bool) {
	a, b, ok := strings.Cut(s, "|")
	return wholeOf(a) + wholeOf(b), ok && isWhole(a) && isWhole(b)
}

// addPool adds a row; nil if there are too many.
func (p *parser) addPool(server, name string, works, waits, lost, line int64) *pool {
	name = strings.ToValidUTF8(name[:min(len(name), mostName)], "?")
	x := p.by[server+"\x00"+name]
	if x == nil {
		if len(p.all) == mostPools {
			return nil
		}
		if p.by == nil {
			p.by = make(map[string]*pool)
		}
		x = &pool{server: server, name: name, line: line}
		p.by[server+"\x00"+name] = x
		p.all = append(p.all, x)
	}
	x.looks++
	x.lost += lost
	if waits > x.waits {
		x.works, x.waits, x.line = works, waits, line
	} else if x.waits == 0 {
		x.works = max(x.works, works)
	}
	if works > 0 && (waits >= standing*works || waits >= works && lost > 0) {
		x.standing++
	}
	return x
}

// background are pools of Elasticsearch that no request waits for.
var background = []string{"refresh", "flush", "force_merge", "generic", "management", "snapshot", "warmer", "fetch_shard_started", "fetch_shard_store", "listener"}

// servesRequests says whether requests wait for a pool.
func (x *pool) servesRequests() bool {
	switch x.server {
	case cassandra:
		for _, s := range []string{"MutationStage", "ReadStage", "RequestResponseStage", "Native-Transport-Requests", "ReplicateOnWriteStage"} {
			if strings.HasSuffix(x.name, s) {
				return true
			}
		}
		return false
	case elasticsearch:
		return !slices.Contains(background, x.name)
	}
	return true
}

func isWhole(s string) bool { return s != "" && len(s) < 17 && strings.Trim(s, "0123456789") == "" }

func wholeOf(s string) int64 {
	v, err := strconv.ParseInt(s, 10, 54)
	if err != nil || v < 0 {
		return 0
	}
	return v
}

func leadingDigits(s string) string { return s[:len(s)-len(strings.TrimLeft(s, "0123456789"))] }

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	p := parser{}
	err := a.Lines(func(l format.Line) bool {
		p.parseLine(string(l.Text[:min(len(l.Text), mostLine)]), l.Number)
		return l.Number&0xfff != 0 || ctx.Err() == nil
	})
	if err := format.EndReading(ctx, b, err, len(p.all)+len(p.order) > 0, "the table", "wait-queues: no row of a pool in it"); err != nil {
		return err
	}
	*b.Clock() = evidence.Clock{Name: "one moment", Error: evidence.Unanchored}
	p.addClusters()
	for _, server := range []string{elasticsearch, cassandra, mongo, nginx, envoy, haproxy} {
		p.emitPools(b, server)
	}
	return nil
}

func (p *parser) emitPools(b *evidence.Builder, server string) {
	var pools []*pool
	for _, x := range p.all {
		if x.server == server {
			pools = append(pools, x)
		}
	}
	if len(pools) == 0 {
		return
	}
	subject := b.Subject(evidence.Subject{Kind: evidence.Dependency, Name: server})
	sorting.Short(pools, func(x, y *pool) int { return cmp.Compare(y.waits, x.waits) })
	t := evidence.Table{Title: "queues of " + server, Columns: []string{"", "wait", "work then", "rejected"}}
	var worst *pool
	for i, x := range pools {
		if server == cassandra && p.dropped > 0 && x.works > 0 && x.waits >= x.works {
			x.standing = max(x.standing, 1)
		}
		if worst == nil && x.servesRequests() && x.standing > 0 && (server != mongo || x.standing >= leastMoments) {
			worst = x
		}
		if i < mostShown {
			t.Rows = append(t.Rows, []string{x.name, formatWhole(x.waits), formatWhole(x.works), formatWhole(x.lost)})
		}
	}
	if p.dropped > 0 && server == cassandra {
		t.Rows = append(t.Rows, []string{"messages that were dropped", "", "", formatWhole(p.dropped)})
	}
	b.Table(t)
	if worst == nil {
		return
	}
	what := "threads of the pool " + worst.name
	switch server {
	case mongo:
		what = "tickets for reads and writes"
	case envoy:
		what = "connections to the cluster " + worst.name + evidence.Link + "max_connections, max_pending_requests and max_requests of its circuit breaker"
	case haproxy:
		what = "connections of " + worst.name + evidence.Link + "maxconn"
	}
	fact := func(key, value string, v float64) {
		b.FactAt(subject, key, value, v, worst.line)
	}
	fact(evidence.FactPlacesUsedUp, what, float64(worst.standing))
	switch places := cmp.Or(worst.places, worst.works); {
	case server == mongo: // which tells of clients that work, and not of tickets
	case server == envoy && worst.waits == 0: // what works now are not all
	default:
		fact(evidence.FactPlaces, what, float64(places))
	}
	if server == envoy {
		b.Warnf(worst.line, "%s: %s for %s now, and %s since its start", server, format.Count(worst.waits, "request waits", "requests wait"), worst.name, format.Count(worst.lost, "was refused", "were refused"))
		return
	}
	b.Warnf(worst.line, "%s: %s wait in %s behind %d at work; a second look a minute later tells whether the queue stands", server, format.Count(worst.waits, "request", "requests"), worst.name, worst.works)
}

func formatWhole(v int64) string { return strconv.FormatInt(v, 10) }
