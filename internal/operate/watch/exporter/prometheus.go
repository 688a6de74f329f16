package exporter

import (
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// collector collects a state's samples as metrics of client_golang. The registry keeps the first of two samples with
// the same name and labels.
type collector struct{ state func() State }

// Describe describes no metric, because each state has other ones. The registry then checks what is collected.
func (collector) Describe(chan<- *prometheus.Desc) {}

// Collect makes the state and sends its metrics.
func (c collector) Collect(to chan<- prometheus.Metric) {
	s := c.state()
	first := make(map[string]*Sample)       // by name: a metric has one help and one type
	summaries := make(map[string][]*Sample) // by name and labels
	for i := range s.Samples {
		x := &s.Samples[i]
		of := first[x.Name]
		if of == nil {
			first[x.Name], of = x, x
		}
		if x.Part != "" {
			key := x.Name
			for _, l := range x.Labels {
				key += "\xff" + l.Name + "\xff" + l.Value
			}
			summaries[key] = append(summaries[key], x)
			continue
		}
		to <- newValueMetric(x.Name, of.Help, of.Kind, x)
	}
	for _, parts := range summaries {
		to <- newSummaryMetric(first[parts[0].Name].Help, parts)
	}
}

// newValueMetric returns a metric of one value.
func newValueMetric(name, help string, kind Kind, x *Sample) prometheus.Metric {
	desc, labels := newDesc(name, help, x)
	m, err := prometheus.NewConstMetric(desc, valueTypes[kind], x.Value, labels...)
	if err != nil {
		return prometheus.NewInvalidMetric(desc, err)
	}
	return m
}

var valueTypes = map[Kind]prometheus.ValueType{Gauge: prometheus.GaugeValue, Counter: prometheus.CounterValue, Untyped: prometheus.UntypedValue}

// newSummaryMetric returns a metric of a count and a sum. If one of them is unknown, the other becomes a metric of its
// own.
func newSummaryMetric(help string, parts []*Sample) prometheus.Metric {
	part := func(name string) int {
		return slices.IndexFunc(parts, func(x *Sample) bool { return x.Part == name })
	}
	count, sum := part("count"), part("sum")
	if count < 0 || sum < 0 {
		return newValueMetric(parts[0].Full(), help, Untyped, parts[0])
	}
	desc, labels := newDesc(parts[0].Name, help, parts[0])
	m, err := prometheus.NewConstSummary(desc, uint64(parts[count].Value), parts[sum].Value, nil, labels...)
	if err != nil {
		return prometheus.NewInvalidMetric(desc, err)
	}
	return m
}

func newDesc(name, help string, x *Sample) (desc *prometheus.Desc, values []string) {
	var names []string
	for _, l := range x.Labels {
		names, values = append(names, l.Name), append(values, strings.ToValidUTF8(l.Value, "\ufffd"))
	}
	return prometheus.NewDesc(name, help, names, nil), values
}

// Handler serves a state to Prometheus, in its text format or OpenMetrics. It makes the state anew for each request, so
// it serves few requests at once. It leaves out samples that contradict others.
func Handler(state func() State) http.Handler {
	r := prometheus.NewRegistry()
	r.MustRegister(collector{state})
	return promhttp.HandlerFor(r, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError, EnableOpenMetrics: true, MaxRequestsInFlight: 4, Timeout: 10 * time.Second})
}

// Serve serves /metrics at an address until close is called.
func Serve(addr string, state func() State) (at string, close func(), err error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return "", nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", Handler(state))
	s := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = s.Serve(l) }()
	return l.Addr().String(), func() { _ = s.Close() }, nil
}
