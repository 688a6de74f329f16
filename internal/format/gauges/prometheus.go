package gauges

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// The text of Prometheus (https://prometheus.io/docs/instrumenting/exposition_formats/), as
// a file of several scrapes:
//
//	while sleep 1; do date -u +'# %FT%TZ'; curl -s localhost:8080/actuator/prometheus; done > gauges.prom
//
// The time of a scrape comes from the comment before it, a Date: header (curl -i), or
// its samples.

// family is the meaning of a metric.
type family struct {
	role    role
	unit    string
	label   string // that has the pool's name
	where   string // a label=value that samples must have
	perHeld bool   // a counter of the seconds waited: its rate is how many wait at once
}

// families are those of Micrometer, OpenTelemetry, HikariCP, Puma (yabeda and puma-metrics) and Go's client library.
var families = map[string]family{
	"hikaricp_connections_active":            {role: active, label: "pool"},
	"hikaricp_connections_idle":              {role: idle, label: "pool"},
	"hikaricp_connections_pending":           {role: pending, label: "pool"},
	"hikaricp_connections_max":               {role: most, label: "pool"},
	"hikaricp_active_connections":            {role: active, label: "pool"}, // of HikariCP's own collector, before Micrometer
	"hikaricp_idle_connections":              {role: idle, label: "pool"},
	"hikaricp_pending_threads":               {role: pending, label: "pool"},
	"hikaricp_max_connections":               {role: most, label: "pool"},
	"puma_busy_threads":                      {role: active, unit: "threads", label: "index"}, // of each worker process of a cluster
	"puma_pool_capacity":                     {role: idle, unit: "threads", label: "index"},   // requests that it can take at once
	"puma_backlog":                           {role: pending, unit: "threads", label: "index"},
	"puma_max_threads":                       {role: most, unit: "threads", label: "index"},
	"jdbc_connections_active":                {role: active, label: "name"},
	"jdbc_connections_idle":                  {role: idle, label: "name"},
	"jdbc_connections_max":                   {role: most, label: "name"},
	"r2dbc_pool_acquired_connections":        {role: active, label: "name"},
	"r2dbc_pool_pending_connections":         {role: pending, label: "name"},
	"r2dbc_pool_max_allocated_connections":   {role: most, label: "name"},
	"db_client_connections_usage":            {role: active, label: "pool_name", where: "used"},
	"db_client_connections_max":              {role: most, label: "pool_name"},
	"db_client_connections_pending_requests": {role: pending, label: "pool_name"},
	"db_client_connection_count":             {role: active, label: "db_client_connection_pool_name", where: "used"},
	"db_client_connection_max":               {role: most, label: "db_client_connection_pool_name"},
	"db_client_connection_pending_requests":  {role: pending, label: "db_client_connection_pool_name"},
	"go_sql_in_use_connections":              {role: active, label: "db_name"},
	"go_sql_max_open_connections":            {role: most, label: "db_name"},
	"go_sql_wait_duration_seconds_total":     {role: pending, label: "db_name", perHeld: true},
	"tomcat_threads_busy_threads":            {role: active, unit: "threads", label: "name"},
	"tomcat_threads_config_max_threads":      {role: most, unit: "threads", label: "name"},
	"jetty_threads_busy":                     {role: active, unit: "threads"},
	"jetty_threads_config_max":               {role: most, unit: "threads"},
	"jetty_threads_jobs":                     {role: pending, unit: "threads"},
}

// Metrics of the process as a whole, by Micrometer.
const (
	metricCPU      = "process_cpu_usage" // 0…1 of all processors
	metricCPUs     = "system_cpu_count"
	metricLoad     = "system_load_average_1m"
	metricRequests = "http_server_requests_seconds_count"
)

// process has the scrapes' figures of the process.
type process struct {
	runtime             string
	cpus                int
	cpu, load, requests points
	line                int64
}

type points struct {
	t []int64
	v []float64
}

func (s *points) add(t int64, v float64) {
	if n := len(s.t); n > 0 && t <= s.t[n-1] {
		return
	}
	if len(s.t) < maxReadings {
		s.t, s.v = append(s.t, t), append(s.v, v)
	}
}

func (x *process) hasReadings() bool { return len(x.cpu.t)+len(x.load.t)+len(x.requests.t) > 0 }

func (x *process) emitSeries(b *evidence.Builder, subject evidence.SubjectID) {
	series := func(subject evidence.SubjectID, name, unit string, s points) {
		if len(s.t) > 0 {
			b.Series(evidence.Series{Subject: subject, Name: name, Unit: unit, T: s.t, V: s.v, Origin: b.Origin(x.line)})
		}
	}
	for i := range x.cpu.v {
		x.cpu.v[i] *= 100
	}
	series(subject, evidence.SeriesCPU, "%", x.cpu)
	if len(x.load.t) > 0 {
		series(b.Subject(evidence.Subject{Kind: evidence.Host}), evidence.SeriesHostLoad1, "1", x.load)
	}
	var rate points
	for i := 1; i < len(x.requests.t); i++ {
		if d := x.requests.v[i] - x.requests.v[i-1]; d >= 0 {
			rate.t, rate.v = append(rate.t, x.requests.t[i-1]), append(rate.v, d/(float64(x.requests.t[i]-x.requests.t[i-1])/1e9))
		}
	}
	series(subject, evidence.SeriesRequests, "1/s", rate)
}

// isExposition says whether a text has one of our families.
func isExposition(text []byte) bool {
	text = text[:min(len(text), format.HeadSize)]
	for line := range bytes.Lines(text) {
		name, _, _ := bytes.Cut(line, []byte("{"))
		name, _, _ = bytes.Cut(name, []byte(" "))
		if _, ok := families[string(name)]; ok {
			return true
		}
	}
	return false
}

// scrape is the readings of one scrape.
type scrape struct {
	t        int64 // 0 not told
	pools    map[string]*gauge
	units    map[string]string
	counters map[string]float64
	requests float64
	seen     map[string]bool // shows where the next scrape begins, if nothing else does
	line     int64
}

// readScrapes reads scrapes in Prometheus' text format.
func (p *parser) readScrapes(a *format.Artifact) error {
	x := scrapes{p: p, waited: make(map[string]counted)}
	x.beginScrape(0, 1)
	err := a.Lines(func(l format.Line) bool {
		if l.Number%8192 == 0 && p.ctx.Err() != nil {
			return false
		}
		x.parseLine(string(bytes.TrimSpace(l.Text)), l.Number)
		return true
	})
	x.endScrape()
	return err
}

// counted is the last value of a counter.
type counted struct {
	t int64
	v float64
}

type scrapes struct {
	p      *parser
	now    scrape
	n      int64
	waited map[string]counted
}

func (x *scrapes) beginScrape(t, line int64) {
	x.now = scrape{t: t, pools: make(map[string]*gauge), units: make(map[string]string), counters: make(map[string]float64), seen: make(map[string]bool), requests: math.NaN(), line: line}
}

func (x *scrapes) parseLine(text string, line int64) {
	switch {
	case text == "":
	case text[0] == '#':
		if t, _, ok := parseTime(strings.TrimSpace(text[1:])); ok {
			x.endScrape()
			x.beginScrape(t, line)
		}
	case strings.HasPrefix(strings.ToLower(text), "date:"):
		if t, _, ok := parseTime(text[5:]); ok {
			x.endScrape()
			x.beginScrape(t, line)
		}
	default:
		x.parseSample(text, line)
	}
}

func (x *scrapes) parseSample(text string, line int64) {
	var metric, labels, rest string
	if i := strings.IndexByte(text, '{'); i >= 0 {
		j := strings.LastIndexByte(text, '}')
		if j < i {
			x.p.countUnparsed(line)
			return
		}
		metric, labels, rest = text[:i], text[i+1:j], text[j+1:]
	} else {
		metric, rest, _ = strings.Cut(text, " ")
	}
	f, known := families[metric]
	if !known && metric != metricCPU && metric != metricCPUs && metric != metricLoad && metric != metricRequests {
		return
	}
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		x.p.countUnparsed(line)
		return
	}
	v, err := strconv.ParseFloat(fields[0], 64)
	if err != nil {
		x.p.countUnparsed(line)
		return
	}
	if v-v != 0 {
		return // NaN, as a gauge whose object is gone gives
	}
	t := int64(0)
	if len(fields) > 1 {
		if ms, err := strconv.ParseInt(fields[1], 10, 64); err == nil && ms > 0 && ms < 9e12 {
			t = ms * 1e6
		}
	}
	key := metric + "{" + labels
	if x.now.seen[key] || t != 0 && x.now.t != 0 && t != x.now.t {
		x.endScrape()
		x.beginScrape(t, line)
	}
	if len(x.now.seen) < maxSubjects*8 {
		x.now.seen[key] = true
	}
	if x.now.t == 0 {
		x.now.t = t
	}
	x.addValue(metric, labels, f, known, v)
}

func (x *scrapes) addValue(metric, labels string, f family, known bool, v float64) {
	pr := &x.p.process
	switch {
	case metric == metricCPUs && v >= 1 && v < 1<<16:
		pr.cpus, pr.runtime = int(v), "jvm"
	case metric == metricCPU, metric == metricLoad:
		pr.runtime = "jvm"
		x.now.counters[metric] = v
	case metric == metricRequests:
		if math.IsNaN(x.now.requests) {
			x.now.requests = 0
		}
		x.now.requests += v
	case known && (f.where == "" || hasLabel(labels, "state", f.where) || hasLabel(labels, "db_client_connection_state", f.where)):
		pool := valueOf(labels, f.label)
		switch {
		case pool == "" && f.unit == "":
			pool = "connections"
		case f.unit != "":
			pool = strings.TrimSpace(strings.SplitN(metric, "_", 2)[0] + " threads " + pool)
		}
		g := x.now.pools[pool]
		if g == nil {
			if len(x.now.pools) == maxSubjects {
				return
			}
			g = &gauge{active: math.NaN(), idle: math.NaN(), pending: math.NaN(), max: math.NaN()}
			x.now.pools[pool] = g
			x.now.units[pool] = f.unit
		}
		switch {
		case f.perHeld:
			x.now.counters["waited "+pool] = v
		case f.role == active:
			g.active = v
		case f.role == idle:
			g.idle = v
		case f.role == pending:
			g.pending = v
		case f.role == most && v >= 0:
			g.max = v
		}
	}
}

// endScrape adds the readings of a scrape.
func (x *scrapes) endScrape() {
	s, p := &x.now, x.p
	if len(s.pools) == 0 && len(s.counters) == 0 && math.IsNaN(s.requests) {
		return
	}
	x.n++
	t := s.t
	if t == 0 {
		p.untimed = true
		t = x.n * 1e9
	}
	for _, name := range sortedKeys(s.pools) {
		g := s.pools[name]
		g.t = t
		if sum, ok := s.counters["waited "+name]; ok {
			if was, ok := x.waited[name]; ok && t > was.t && sum >= was.v {
				g.pending = (sum - was.v) / (float64(t-was.t) / 1e9)
			}
			x.waited[name] = counted{t, sum}
		}
		if math.IsNaN(g.active) && g.idle >= 0 && g.idle <= g.max {
			g.active = g.max - g.idle
		}
		if math.IsNaN(g.active) && !(g.pending > 0) {
			continue
		}
		unit := s.units[name]
		if unit == "" {
			unit = "connections"
		}
		p.addReading(p.ensurePool(name, unit, s.line), *g)
	}
	pr := &p.process
	if pr.line == 0 {
		pr.line = s.line
	}
	if v, ok := s.counters[metricCPU]; ok {
		pr.cpu.add(t, v)
	}
	if v, ok := s.counters[metricLoad]; ok {
		pr.load.add(t, v)
	}
	if !math.IsNaN(s.requests) {
		pr.requests.add(t, s.requests)
	}
	s.pools, s.counters, s.requests = nil, nil, math.NaN()
}

// valueOf returns the value of a label, "" without it.
func valueOf(labels, name string) string {
	for name != "" && labels != "" {
		i := strings.IndexByte(labels, '=')
		if i < 0 || i+1 >= len(labels) || labels[i+1] != '"' {
			return ""
		}
		key := strings.Trim(labels[:i], " ,")
		rest := labels[i+2:]
		var v strings.Builder
		k := 0
		for k < len(rest) && rest[k] != '"' {
			if rest[k] == '\\' && k+1 < len(rest) {
				k++
			}
			v.WriteByte(rest[k])
			k++
		}
		if key == name {
			return clipName(v.String())
		}
		labels = rest[min(k+1, len(rest)):]
	}
	return ""
}

func hasLabel(labels, name, value string) bool { return valueOf(labels, name) == value }
