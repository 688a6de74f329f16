// Package gauges reads what monitors record about connection pools and about the
// dependencies of a service: rows with a header, in any order and with any of the usual names.
//
//	time,pool,active,idle,pending,total,max      HikariCP, Tomcat JDBC, DBCP, Druid, c3p0, any other: CSV or JSON
//	time,dependency,count,mean_ms,p99_ms         a database's own monitor: CSV or JSON
//	userid,…,query,calls,…,mean_exec_time,…      pg_stat_statements as CSV (total_time up to 12): ms, since its last reset
//	                                             https://www.postgresql.org/docs/current/pgstatstatements.html
//	SCHEMA_NAME,DIGEST,DIGEST_TEXT,COUNT_STAR,…  events_statements_summary_by_digest of MySQL as CSV or TSV: ps
//	                                             https://dev.mysql.com/doc/refman/8.4/en/performance-schema-statement-summary-tables.html
//	hikaricp_connections_active{pool="db"} 7     the text of Prometheus, one scrape after the other (prometheus.go)
//	{"gauges":{"…DataSource.main.active":{"value":7},…     the registry of Dropwizard Metrics (dropwizard.go)
//	{"MaxOpenConnections":20,"InUse":20,…                  sql.DBStats of Go
//	… Pool stats (total=10, active=7, idle=3, waiting=0)   lines of HikariCP in a log (log.go)
//
// The package's opinion: the first line names the columns; a figure's unit is in its
// column's name, and without one it is milliseconds, as in all such monitors; a pool's use is
// a reading and not a history, so the time between two readings is unknown.
package gauges

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/format"
)

// Format reads files of gauges.
var Format = format.Format{
	Name:  "gauges",
	About: "pool gauges and response times of dependencies: CSV, JSON; pg_stat_statements, MySQL digests",
	Whole: true,
	Match: func(head []byte) format.Confidence {
		return format.SureIf(chooseReader(head) != nil)
	},
	Parse: parseArtifact,
}

// Exposition reads a page of metrics in the text of Prometheus with a pool's gauges; other formats read the rest of the page.
var Exposition = format.Format{
	Name:  "gauges",
	About: "pool gauges in the text of Prometheus",
	Match: func(head []byte) format.Confidence {
		return format.SureIf(isExposition(head))
	},
	Parse: func(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
		p := newParser(ctx, b)
		return p.emitReadings(p.readScrapes(a))
	},
}

type reader func(p *parser, a *format.Artifact) error

// chooseReader chooses the reader of a file that begins like this, nil if the format is unknown.
func chooseReader(head []byte) reader {
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
	switch {
	case len(text) == 0:
	case isRegistry(text):
		return (*parser).readRegistry
	case text[0] == '{' || text[0] == '[':
		if row := firstObject(text); row != nil && tableOf(row.keys()) != nil {
			return (*parser).readObjects
		}
	default:
		line, _, _ := bytes.Cut(text, []byte("\n"))
		if sep := findSeparator(line); sep != 0 && len(line) < 8<<10 && tableOf(appendFields(nil, string(bytes.TrimRight(line, "\r")), sep)) != nil {
			return (*parser).readTable
		}
	}
	return nil
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	r, err := a.Reader()
	if err != nil {
		return err
	}
	head := make([]byte, format.HeadSize)
	n, _ := readFull(r, head) // an error here comes again below
	_ = r.Close()
	read := chooseReader(head[:n])
	if read == nil {
		return errors.New("it has no columns of a pool or a dependency")
	}
	p := newParser(ctx, b)
	err = read(p, a)
	return p.emitReadings(err)
}

// Bounds of what is kept.
const (
	maxSubjects = 1000 // pools, dependencies
	maxReadings = 4 << 20
	maxName     = 200
)

// parser reads one file.
type parser struct {
	ctx          context.Context
	b            *evidence.Builder
	pools        map[string]*pool
	timeouts     map[string]*timeouts // by pool
	dependencies map[string]*dependency
	process      process
	hikari       string // the pool of HikariCP that was named last
	connecting   connecting
	readings     int
	unzoned      bool
	untimed      bool
	strange      int64
	first        int64
	dropped      int64
}

func newParser(ctx context.Context, b *evidence.Builder) *parser {
	return &parser{ctx: ctx, b: b, pools: make(map[string]*pool), timeouts: make(map[string]*timeouts), dependencies: make(map[string]*dependency)}
}

func (p *parser) countUnparsed(line int64) {
	if p.strange++; p.strange == 1 {
		p.first = line
	}
}

// pool is the readings of one pool.
type pool struct {
	name, unit string
	line       int64
	at         []gauge
}

// gauge is one reading; NaN is unknown.
type gauge struct {
	t                          int64
	active, idle, pending, max float64
}

func (p *parser) ensurePool(name, unit string, line int64) *pool {
	if p.readings == maxReadings {
		return nil // one without a reading says nothing
	}
	x := p.pools[name]
	if x == nil {
		name = clipName(name)
		x = p.pools[name]
	}
	if x == nil {
		if len(p.pools) == maxSubjects {
			return nil
		}
		x = &pool{name: name, unit: unit, line: line}
		p.pools[name] = x
	}
	return x
}

func (p *parser) addReading(x *pool, r gauge) {
	switch {
	case x == nil || p.readings == maxReadings:
		p.dropped++
	case r.t == 0 && len(x.at) > 0 && x.at[len(x.at)-1].t == 0: // the newest counts
		x.at[len(x.at)-1] = r
	default:
		p.readings++
		if n := len(x.at); n == cap(x.at) { // there may be millions
			x.at = slices.Grow(x.at, max(n, 8))
		}
		x.at = append(x.at, r)
	}
}

// emitReadings writes what was read. It returns err if nothing was.
func (p *parser) emitReadings(err error) error {
	b := p.b
	some := len(p.pools)+len(p.timeouts)+len(p.dependencies)+p.connecting.untold > 0 || p.process.hasReadings()
	switch {
	case p.ctx.Err() != nil:
		return p.ctx.Err()
	case !some && err != nil && !errors.Is(err, format.ErrCut):
		return err
	case !some:
		return errors.New("it holds no reading of a pool or a dependency")
	case err != nil:
		b.Warnf(0, "the file is incomplete: %v", err)
		b.Cut()
	}
	if p.untimed {
		b.Clock().Error, b.Clock().Name = evidence.Unanchored, "scrapes, one after the other"
		b.Warnf(0, "its scrapes have no time: print one before each scrape, for example with: date -u +'# %%FT%%TZ'")
	}
	if p.unzoned {
		b.Warnf(0, "its times have no time zone and were read as UTC: check them against the other files")
	}
	p.emitPools()
	p.emitDependencies()
	if p.strange > 0 {
		b.Warnf(p.first, "lines not understood: %d; the first is line %d", p.strange, p.first)
	}
	if p.dropped > 0 {
		b.Warnf(0, "it holds too many readings: %d left out", p.dropped)
	}
	return nil
}

func (p *parser) emitPools() {
	if len(p.pools)+len(p.timeouts)+p.connecting.untold == 0 && !p.process.hasReadings() {
		return
	}
	b := p.b
	subject := b.Subject(evidence.Subject{Kind: evidence.Process, Runtime: p.process.runtime, CPUs: p.process.cpus})
	p.process.emitSeries(b, subject)
	p.emitTimeouts(subject)
	p.emitConnecting(subject)
	if len(p.pools) == 0 {
		return
	}
	table := evidence.Table{Title: "pools", Columns: []string{"", "readings", "max in use", "mean", "of", "readings with a full pool", "max waiting", "mean", "idle at least", "open at most"}}
	var from, until, line int64
	for _, name := range sortedKeys(p.pools) {
		x := p.pools[name]
		for i := range x.at {
			if x.at[i].t == 0 {
				x.at[i].t = b.Modified()
			}
		}
		if byTime := func(r, s gauge) int { return cmp.Compare(r.t, s.t) }; !slices.IsSortedFunc(x.at, byTime) {
			sorting.Short(x.at, byTime)
		}
		x.mergeSameMoment()
		active, most, waits := x.buildSeries(evidence.SeriesClientPoolUsed, func(r *gauge) float64 { return r.active }),
			x.buildSeries(evidence.SeriesClientPoolMax, func(r *gauge) float64 { return r.max }),
			x.buildSeries(evidence.SeriesClientPoolWaits, func(r *gauge) float64 { return r.pending })
		full, idle, open := 0, math.NaN(), math.NaN()
		for _, r := range x.at {
			if r.active >= r.max {
				full++
			}
			if !(idle <= r.idle) {
				idle = r.idle
			}
			if both := r.active + r.idle; !(open >= both) {
				open = both
			}
		}
		for _, s := range []*evidence.Series{active, most, waits} {
			if len(s.T) > 0 {
				s.Subject, s.Unit, s.Origin = subject, x.unit, b.Origin(x.line)
				b.Series(*s)
			}
		}
		first, last := x.at[0].t, x.at[len(x.at)-1].t
		if from == 0 || first < from {
			from, line = first, x.line
		}
		until = max(until, last)
		highest, mean := maxAndMean(active)
		size, _ := maxAndMean(most)
		pending, queue := maxAndMean(waits)
		table.Rows = append(table.Rows, []string{x.name, fmt.Sprint(len(x.at)), formatFigure(highest), formatFigure(mean), formatFigure(size), fmt.Sprint(full), formatFigure(pending), formatFigure(queue), formatFigure(idle), formatFigure(open)})
	}
	b.Table(table)
	b.Cover(evidence.Coverage{Subject: subject, Kind: evidence.CoverPool, From: from, Until: max(until, from+1), Sampled: p.medianInterval(), Origin: b.Origin(line)})
}

// mergeSameMoment keeps one of the readings of one moment: the one in which most waited, else the
// last.
func (x *pool) mergeSameMoment() {
	n := 0
	for _, r := range x.at {
		if n > 0 && x.at[n-1].t == r.t {
			if !(x.at[n-1].pending > r.pending) {
				x.at[n-1] = r
			}
			continue
		}
		x.at[n] = r
		n++
	}
	x.at = x.at[:n]
}

// medianInterval returns the median time between two readings of a pool, ns.
func (p *parser) medianInterval() int64 {
	gaps := make([]int64, 0, p.readings)
	for _, x := range p.pools {
		for i := 1; i < len(x.at); i++ {
			gaps = append(gaps, x.at[i].t-x.at[i-1].t)
		}
	}
	if len(gaps) == 0 {
		return 1
	}
	return max(1, stats.QuantileOf(gaps, (float64(len(gaps)/2)+.5)/float64(len(gaps))))
}

// buildSeries returns one figure of a pool over time. Of readings of one moment it keeps the last.
func (x *pool) buildSeries(name string, of func(*gauge) float64) *evidence.Series {
	s := &evidence.Series{Name: name + ":" + x.name}
	for i := range x.at {
		v := of(&x.at[i])
		if math.IsNaN(v) || math.IsInf(v, 0) || x.at[i].t == 0 {
			continue
		}
		if s.T == nil {
			s.T, s.V = make([]int64, 0, len(x.at)-i), make([]float64, 0, len(x.at)-i)
		}
		if n := len(s.T); n > 0 && s.T[n-1] == x.at[i].t {
			s.V[n-1] = v
			continue
		}
		s.T, s.V = append(s.T, x.at[i].t), append(s.V, v)
	}
	return s
}

// maxAndMean returns a series' highest reading and its mean, NaN if it is empty.
func maxAndMean(s *evidence.Series) (most, mean float64) {
	if len(s.V) == 0 {
		return math.NaN(), math.NaN()
	}
	for _, v := range s.V {
		mean += v / float64(len(s.V))
	}
	return slices.Max(s.V), mean
}

func formatFigure(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	if v >= 100 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

func sortedKeys[T any](m map[string]T) []string {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

func clipName(s string) string {
	return strings.ToValidUTF8(strings.Clone(s[:min(len(s), maxName)]), "?")
}
