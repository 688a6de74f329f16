package metrics

import (
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// collector asks for the state each time it is asked itself.
type collector struct{ state func() State }

// Describe describes nothing: what there is depends on what runs.
func (c collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements [prometheus.Collector].
func (c collector) Collect(out chan<- prometheus.Metric) {
	s := c.state()
	type whole struct {
		desc       *prometheus.Desc
		values     []string
		count, sum float64
	}
	summaries := make(map[string]*whole)
	var order []string
	for i := range s.Samples {
		x := &s.Samples[i]
		names, values := make([]string, len(x.Labels)), make([]string, len(x.Labels))
		for k, l := range x.Labels {
			names[k], values[k] = l.Name, l.Value
		}
		desc := prometheus.NewDesc(x.Name, x.Help, names, nil)
		if x.Part != "" {
			key := x.Name + fmt.Sprint(x.Labels)
			w := summaries[key]
			if w == nil {
				w = &whole{desc: desc, values: values}
				summaries[key], order = w, append(order, key)
			}
			if x.Part == "count" {
				w.count = x.Value
			} else {
				w.sum = x.Value
			}
			continue
		}
		kind := map[Kind]prometheus.ValueType{Gauge: prometheus.GaugeValue, Counter: prometheus.CounterValue, Untyped: prometheus.UntypedValue}[x.Kind]
		if m, err := prometheus.NewConstMetric(desc, kind, x.Value, values...); err == nil {
			out <- m
		}
	}
	for _, key := range order {
		w := summaries[key]
		if m, err := prometheus.NewConstSummary(w.desc, uint64(max(0, w.count)), w.sum, nil, w.values...); err == nil {
			out <- m
		}
	}
}

// Handler serves what Prometheus asks for.
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
