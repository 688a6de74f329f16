package exporter

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Expose writes a state as Prometheus reads it, in version 0.0.4 of its text format
// (https://prometheus.io/docs/instrumenting/exposition_formats): the samples of a metric together,
// below its help and its type. The count and the sum of a summary are of one metric.
func Expose(w io.Writer, s *State) error {
	families := make(map[string][]*Sample)
	for i := range s.Samples {
		families[s.Samples[i].Name] = append(families[s.Samples[i].Name], &s.Samples[i])
	}
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(families)) {
		all := families[name]
		kind := map[Kind]string{Gauge: "gauge", Counter: "counter", Untyped: "untyped"}[all[0].Kind]
		if all[0].Part != "" {
			kind = "summary"
		}
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %[1]s %[3]s\n", name, helpEscapes.Replace(all[0].Help), kind)
		var lines []string
		there := make(map[string]bool) // a sample that is there twice makes the whole page invalid
		for _, x := range all {
			key := name
			if x.Part != "" {
				key += "_" + x.Part
			}
			key += labelled(x.Labels)
			if !there[key] {
				there[key] = true
				lines = append(lines, key+" "+strconv.FormatFloat(x.Value, 'g', -1, 64)+"\n")
			}
		}
		slices.Sort(lines)
		for _, line := range lines {
			b.WriteString(line)
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

var (
	helpEscapes  = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	valueEscapes = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
)

// labelled are labels in the order of their names.
func labelled(labels []Label) string {
	if len(labels) == 0 {
		return ""
	}
	var all []string
	for _, l := range labels {
		all = append(all, l.Name+`="`+valueEscapes.Replace(strings.ToValidUTF8(l.Value, "\ufffd"))+`"`)
	}
	slices.Sort(all)
	return "{" + strings.Join(all, ",") + "}"
}

// atOnce is how many may ask at the same time: the state is made anew for each.
const atOnce = 4

// Handler serves what Prometheus asks for.
func Handler(state func() State) http.Handler {
	places := make(chan struct{}, atOnce)
	return http.TimeoutHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case places <- struct{}{}:
			defer func() { <-places }()
		default:
			http.Error(w, fmt.Sprintf("%d requests are already in progress", atOnce), http.StatusServiceUnavailable)
			return
		}
		s := state()
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		var out io.Writer = w
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			defer z.Close()
			out = z
		}
		_ = Expose(out, &s) // where it cannot be sent, whoever asked has gone
	}), 10*time.Second, "it took more than 10 s to answer")
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
