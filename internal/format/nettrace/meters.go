package nettrace

import (
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format/nettrace/eventpipe"
)

// meters are the instruments that System.Diagnostics.Metrics publishes, each with a
// figure for every combination of tags. Instruments that an EventCounter shows too get its
// name, and the sum over all tags.
type meters struct {
	sums    map[string]*counter
	pending map[string]*pending // sums of the collection under way
	seconds float64             // its interval
	limited int64
}

type pending struct {
	twin twin
	sum  float64
	at   int64
	n    int64
}

func (m *meters) init() {
	m.sums = make(map[string]*counter)
	m.pending = make(map[string]*pending)
	m.seconds = 1
}

// twin is the EventCounter with the same figures as an instrument.
type twin struct{ name, unit string }

// twins by meter and instrument: the System.Runtime meter of .NET 9+
// (RuntimeMetrics.cs) and ASP.NET Core's of .NET 8+.
var twins = map[string]twin{
	"System.Runtime/dotnet.process.memory.working_set":               {evidence.SeriesWorkingSet, "bytes"},
	"System.Runtime/dotnet.process.cpu.time":                         {evidence.SeriesCPU, "percent"}, // its seconds a second
	"System.Runtime/dotnet.thread_pool.thread.count":                 {evidence.SeriesPoolThreads, "count"},
	"System.Runtime/dotnet.thread_pool.queue.length":                 {evidence.SeriesPoolQueue, "count"},
	"System.Runtime/dotnet.thread_pool.work_item.count":              {evidence.SeriesPoolCompleted, "count/s"},
	"System.Runtime/dotnet.timer.count":                              {evidence.SeriesTimers, "count"},
	"System.Runtime/dotnet.monitor.lock_contentions":                 {evidence.SeriesContentions, "count/s"},
	"System.Runtime/dotnet.exceptions":                               {evidence.SeriesExceptions, "count/s"},
	"System.Runtime/dotnet.gc.heap.total_allocated":                  {evidence.SeriesAllocation, "bytes/s"},
	"System.Runtime/dotnet.assembly.count":                           {evidence.SeriesAssemblies, "count"},
	"Microsoft.AspNetCore.Hosting/http.server.active_requests":       {evidence.SeriesRequestsInFlight, "count"},
	"Microsoft.AspNetCore.Hosting/http.server.request.duration":      {evidence.SeriesRequestRate, "count/s"}, // its count
	"Microsoft.AspNetCore.Server.Kestrel/kestrel.active_connections": {evidence.SeriesConnections, "count"},
	"Microsoft.AspNetCore.Server.Kestrel/kestrel.queued_connections": {evidence.SeriesConnectionQueue, "count"},
	"Microsoft.AspNetCore.Server.Kestrel/kestrel.queued_requests":    {evidence.SeriesRequestQueue, "count"},
}

// processorCount is the instrument that shows Environment.ProcessorCount.
const processorCount = "System.Runtime/dotnet.process.cpu.count"

// instrument reads the common beginning of all published figures.
type instrument struct{ name, unit, tags string }

func readInstrument(c *eventpipe.Cursor) (i instrument) {
	c.SkipUTF16() // session
	meter := c.UTF16()
	c.SkipUTF16() // its version
	i.name = meter + "/" + c.UTF16()
	i.unit, i.tags = c.UTF16(), c.UTF16()
	return i
}

// meterRate reads CounterRateValuePublished: by how much a counter grew in the
// interval.
func (q *process) meterRate(e *eventpipe.Event) {
	c := q.p.r.Cursor(e.Payload())
	i := readInstrument(&c)
	q.addInstrument(e, &c, i, c.UTF16(), true)
}

// meterValue reads UpDownCounterRateValuePublished, whose value there is from
// version 1 on.
func (q *process) meterValue(e *eventpipe.Event) {
	c := q.p.r.Cursor(e.Payload())
	i := readInstrument(&c)
	c.SkipUTF16() // by how much it changed
	if e.Meta.Version >= 1 {
		q.addInstrument(e, &c, i, c.UTF16(), false)
	}
}

// meterGauge reads GaugeValuePublished.
func (q *process) meterGauge(e *eventpipe.Event) {
	c := q.p.r.Cursor(e.Payload())
	i := readInstrument(&c)
	q.addInstrument(e, &c, i, c.UTF16(), false)
}

// addInstrument keeps a figure. A figure without a measurement in the interval is empty.
func (q *process) addInstrument(e *eventpipe.Event, c *eventpipe.Cursor, i instrument, text string, rate bool) {
	if !c.OK() {
		q.countMalformed(e)
		return
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return
	}
	m := &q.counters.meters
	if i.name == processorCount && v >= 1 && v < 1<<16 {
		q.counters.processors = int(v)
	}
	unit, scale := baseUnit(meterUnit(i.unit))
	if rate {
		v, unit = v/m.seconds, unit+"/s"
	}
	if t, ok := twins[i.name]; ok {
		m.add(t, v, e)
		return
	}
	q.counters.add(i.seriesName(), unit, e.Time, v*scale, e.N)
}

// seriesName returns the name of an instrument with tags: Meter/instrument{tags}.
func (i *instrument) seriesName() string {
	if i.tags == "" {
		return i.name
	}
	return i.name + "{" + i.tags + "}"
}

// meterUnit removes the braces of UCUM annotations: {request} is a count.
func meterUnit(unit string) string {
	if strings.HasPrefix(unit, "{") {
		return ""
	}
	return unit
}

// meterHistogram reads HistogramValuePublished: quantiles of the interval, and from
// version 1 on how many values there were.
func (q *process) meterHistogram(e *eventpipe.Event) {
	c := q.p.r.Cursor(e.Payload())
	i := readInstrument(&c)
	quantiles := c.UTF16()
	if !c.OK() {
		q.countMalformed(e)
		return
	}
	m := &q.counters.meters
	if count := c.I32(); c.OK() {
		if t, ok := twins[i.name]; ok {
			m.add(t, float64(count)/m.seconds, e)
		}
	}
	unit, scale := baseUnit(meterUnit(i.unit))
	for part := range strings.SplitSeq(quantiles, ";") { // 0.5=0.0123;0.95=…
		at, value, ok := strings.Cut(part, "=")
		v, err := strconv.ParseFloat(value, 64)
		quantile, err2 := strconv.ParseFloat(at, 64)
		if !ok || err != nil || err2 != nil {
			continue
		}
		q.counters.add(i.seriesName()+":p"+strconv.FormatFloat(100*quantile, 'g', 4, 64), unit, e.Time, v*scale, e.N)
	}
}

func (q *process) meterLimit(*eventpipe.Event) { q.counters.meters.limited++ }

// meterCollecting reads CollectionStart: the following figures are of an interval
// between two times, in 100 ns.
func (q *process) meterCollecting(e *eventpipe.Event) {
	c := q.p.r.Cursor(e.Payload())
	c.SkipUTF16() // session
	from, to := c.I64(), c.I64()
	if !c.OK() {
		q.countMalformed(e)
		return
	}
	q.counters.meters.keepSums()
	if s := float64(to-from) / 1e7; s > 0.01 && s < 1e5 {
		q.counters.meters.seconds = s
	}
}

// meterCollected reads CollectionStop: all figures of an interval were published.
func (q *process) meterCollected(*eventpipe.Event) { q.counters.meters.keepSums() }

func (m *meters) add(t twin, v float64, e *eventpipe.Event) {
	p := m.pending[t.name]
	if p == nil {
		p = &pending{twin: t, at: e.Time, n: e.N}
		m.pending[t.name] = p
	}
	p.sum += v
}

// keepSums keeps the sums over all tags.
func (m *meters) keepSums() {
	for name, p := range m.pending {
		s := m.sums[name]
		if s == nil {
			s = &counter{name: name, unit: p.twin.unit}
			m.sums[name] = s
		}
		s.add(p.at, p.sum, p.n)
	}
	clear(m.pending)
}

// perProcessor converts the process's CPU seconds per second into percent of
// all CPUs, as in the EventCounter.
func (m *meters) perProcessor(processors int) {
	s := m.sums[evidence.SeriesCPU]
	if s == nil {
		return
	}
	factor := 100 / float64(max(1, processors))
	for i := range s.v {
		s.v[i] *= factor
	}
	s.last, s.sum, s.most = s.last*factor, s.sum*factor, s.most*factor
}
