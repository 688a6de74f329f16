package fleet

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/operate/fleet/promql"
	"github.com/unstall/unstall/internal/operate/watch/exporter/names"
)

// answers is a store that answers a query with the rows of a word in it; a query without such a word has no rows.
type answers struct {
	rows   map[string]string
	labels map[string]string // values of labels
	code   int
	text   string
	auth   string
}

func (a *answers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	a.auth = r.Header.Get("Authorization")
	if a.code != 0 {
		w.WriteHeader(a.code)
		_, _ = w.Write([]byte(a.text))
		return
	}
	data := `{"resultType":"vector","result":[]}`
	q := r.Form.Get("query")
	switch {
	case strings.Contains(r.URL.Path, "/label/"):
		data = "[]"
		for word, values := range a.labels {
			if strings.Contains(r.URL.Path, "/"+word+"/") {
				data = values
			}
		}
	case q == "time()":
		data = `{"resultType":"scalar","result":[1800000000,"1800000000"]}`
	case strings.HasSuffix(r.URL.Path, "query_range"):
		data = `{"resultType":"matrix","result":[]}`
	}
	for word, rows := range a.rows {
		if strings.Contains(q, word) {
			data = `{"resultType":"vector","result":[` + rows + `]}`
		}
	}
	_, _ = w.Write([]byte(`{"status":"success","data":` + data + `}`))
}

func row(value string, labels ...string) string {
	m := make(map[string]string)
	for i := 0; i < len(labels); i += 2 {
		m[labels[i]] = labels[i+1]
	}
	text, _ := json.Marshal(m)
	return `{"metric":` + string(text) + `,"value":[1800000000,"` + value + `"]}`
}

func of(t *testing.T, a *answers, opt Options) (*Report, error) {
	t.Helper()
	server := httptest.NewServer(a)
	defer server.Close()
	store, err := promql.Open(server.URL+"/", "secret")
	if err != nil {
		t.Fatal(err)
	}
	if opt.Since == 0 {
		opt.Since = time.Hour
	}
	return Of(t.Context(), store, opt)
}

const byHost = "sum by (service, host, version) (increase("

func TestRank(t *testing.T) {
	a := &answers{rows: map[string]string{
		byHost + names.SlowSeconds:                                   strings.Join([]string{row("120", "service", "shop", "host", "web-1"), row("30", "service", "shop", "host", "web-2"), row("50", "service", "pay", "host", "web-1")}, ","),
		byHost + names.Requests:                                      strings.Join([]string{row("1000", "service", "shop", "host", "web-1"), row("2000", "service", "shop", "host", "web-2"), row("500", "service", "pay", "host", "web-1"), row("70", "service", "idle", "host", "web-3")}, ","),
		"sum by (service) (increase(" + names.SlowRequests:           row("90", "service", "shop"),
		"sum by (service, mechanism) (increase(" + names.SlowSeconds: strings.Join([]string{row("100", "service", "shop", "mechanism", "lock"), row("50", "service", "shop", "mechanism", "own"), row("50", "service", "pay", "mechanism", "own")}, ","),
		names.CauseSeconds:                                           strings.Join([]string{row("90", "service", "shop", "host", "web-1", "cause", "jvm.lock-contention"), row("20", "service", "shop", "host", "web-2", "cause", "jvm.full-gc"), row("40", "service", "pay", "host", "web-1", "cause", "jvm.full-gc")}, ","),
		"changes(":                                                   row("40", "host", "web-2"),
		"timestamp(":                                                 strings.Join([]string{row("-300", "host", "web-1"), row("0.4", "host", "web-2")}, ","),
	}}
	r, err := of(t, a, Options{Now: time.Unix(1_800_000_400, 0)})
	if err != nil {
		t.Fatal(err)
	}
	if a.auth != "Bearer secret" {
		t.Errorf("sent %q", a.auth)
	}
	if r.SlowS != 200 || r.Hosts != 3 || *r.Requests != 3570 || len(r.Services) != 3 {
		t.Errorf("%+v", r)
	}
	if s := r.Services[0]; s.Service != "shop" || s.SlowS != 150 || *s.Rate != 50 || *s.Slow != 90 || s.Hosts != 2 || s.Cause != "jvm.lock-contention" || s.CauseS != 90 || s.Mechanisms[0].Mechanism != "lock" {
		t.Errorf("%+v", s)
	}
	if s := r.Services[2]; s.Service != "idle" || s.SlowS != 0 || s.Slow != nil || s.Cause != "" {
		t.Errorf("%+v", s)
	}
	if c := r.Causes[1]; len(r.Causes) != 2 || r.Causes[0].Cause != "jvm.lock-contention" || c.SlowS != 60 || c.Hosts != 2 || strings.Join(c.Services, " ") != "pay shop" || c.Title == "" {
		t.Errorf("%+v", r.Causes)
	}
	var sum float64
	for _, m := range r.Mechanisms {
		sum += m.SlowS
	}
	if sum != r.SlowS || r.Mechanisms[0].Title == "" {
		t.Errorf("mechanisms add up to %g s of %g: %+v", sum, r.SlowS, r.Mechanisms)
	}
	if h := r.Slowest[0]; len(r.Slowest) != 3 || h.Host != "web-1" || h.Service != "shop" || h.Cause != "jvm.lock-contention" {
		t.Errorf("%+v", r.Slowest)
	}
	for i, want := range []string{"web-2: two hosts seem to use one name", "web-1: its clock differs from the store's by up to 300 s", "the clock of this machine differs from the store's by 400 s"} {
		if i >= len(r.Warnings) || !strings.HasPrefix(r.Warnings[i], want) {
			t.Errorf("warnings %q, want %q", r.Warnings, want)
		}
	}
}

// TestNothing checks that an error about missing data says what the store has.
func TestNothing(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer answers
		opt    Options
		want   string
	}{
		{name: "no series", want: "has no series of unstall: make hosts send to it with unstall watch"},
		{name: "older ones", answer: answers{labels: map[string]string{"__name__": `["unstall_slow_seconds_total"]`}}, want: "of the last 1h0m0s, only older ones: give a longer --since"},
		{name: "others", answer: answers{labels: map[string]string{"__name__": `["unstall_process_threads","unstall_verdict"]`}}, want: "has no unstall_slow_seconds_total, but unstall_process_threads, unstall_verdict: these hosts record no requests"},
		{name: "mistyped", opt: Options{Service: "shpo"}, answer: answers{labels: map[string]string{"service": `["pay","shop"]`}}, want: "--service shpo: "},
		{name: "token", answer: answers{code: 401, text: "no"}, want: "answers 401 Unauthorized: check the token"},
		{name: "not its API", answer: answers{code: 404, text: "404 page not found"}, want: "no /api/v1 there"},
		{name: "too much", answer: answers{code: 422, text: `{"status":"error","error":"the number of matching timeseries exceeds 300000"}`}, want: "answers 422 Unprocessable Entity: the number of matching timeseries exceeds 300000"},
		{name: "a page", answer: answers{code: 200, text: "<html>"}, want: "its response is not from a Prometheus API"},
	} {
		_, err := of(t, &c.answer, c.opt)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	store, err := promql.Open("http://127.0.0.1:1", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Of(t.Context(), store, Options{Since: time.Hour}); err == nil || !strings.Contains(err.Error(), "http://127.0.0.1:1 cannot be reached: ") {
		t.Errorf("%v", err)
	}
	for _, bad := range []string{"", "localhost:9090", "ftp://x"} {
		if _, err := promql.Open(bad, ""); err == nil {
			t.Errorf("%q is taken for an address", bad)
		}
	}
}
