// Package promql queries a store of metrics by the HTTP API that Prometheus defined
// (https://prometheus.io/docs/prometheus/latest/querying/api). VictoriaMetrics, Thanos, Mimir and others have the
// same API. The package uses only three of its endpoints.
package promql

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"
)

// Bounds of the answer's size and of the time it may take.
const (
	maxAnswer = 512 << 20 // bytes
	maxError  = 64 << 10
	patience  = 2 * time.Minute // a store gives up a query earlier
)

// Store is a store of metrics at an address.
type Store struct {
	base   *url.URL
	token  string
	client *http.Client
}

// Sample is a series' value at a moment.
type Sample struct {
	Labels map[string]string
	Value  float64
}

// Series is the values of a series over time.
type Series struct {
	Labels map[string]string
	Points []Point
}

// Point is a value at a time (s since the epoch).
type Point struct {
	At    float64
	Value float64
}

// Open returns the store at an address. The address is the part before /api/v1, such as http://10.0.0.9:9090 or,
// for a cluster of VictoriaMetrics, http://select:8481/select/0/prometheus. A name and password in the address, or
// else the token, are sent with each query.
func Open(address, token string) (*Store, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%q is not the address of a store: give http://HOST:PORT", address)
	}
	if strings.ContainsAny(token, "\r\n") {
		return nil, errors.New("the token has more than one line: give only the first")
	}
	u.Path = strings.TrimSuffix(strings.TrimSuffix(u.Path, "/"), "/api/v1")
	return &Store{base: u, token: token, client: &http.Client{Timeout: patience}}, nil
}

// String returns the address without the password.
func (s *Store) String() string {
	u := *s.base
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

// Query returns values at a moment. The zero time means now, by the store's clock.
func (s *Store) Query(ctx context.Context, query string, at time.Time) ([]Sample, error) {
	form := url.Values{"query": {query}}
	if !at.IsZero() {
		form.Set("time", formatTimestamp(at))
	}
	var data struct {
		ResultType string
		Result     json.RawMessage
	}
	if err := s.fetchData(ctx, "query", form, &data); err != nil {
		return nil, err
	}
	if data.ResultType == "scalar" {
		var p point
		err := json.Unmarshal(data.Result, &p)
		return []Sample{{Value: p.Value}}, s.unreadableError(err)
	}
	var rows []struct {
		Metric map[string]string
		Value  point
	}
	if err := json.Unmarshal(data.Result, &rows); err != nil {
		return nil, s.unreadableError(err)
	}
	out := make([]Sample, len(rows))
	for i, r := range rows {
		out[i] = Sample{r.Metric, r.Value.Value}
	}
	return out, nil
}

// Range returns values over a time, one for each step.
func (s *Store) Range(ctx context.Context, query string, from, until time.Time, step time.Duration) ([]Series, error) {
	form := url.Values{"query": {query}, "start": {formatTimestamp(from)}, "end": {formatTimestamp(until)}, "step": {strconv.FormatFloat(step.Seconds(), 'f', -1, 64)}}
	var data struct {
		Result []struct {
			Metric map[string]string
			Values []point
		}
	}
	if err := s.fetchData(ctx, "query_range", form, &data); err != nil {
		return nil, err
	}
	out := make([]Series, len(data.Result))
	for i, r := range data.Result {
		out[i].Labels = r.Metric
		for _, p := range r.Values {
			out[i].Points = append(out[i].Points, Point(p))
		}
	}
	return out, nil
}

// Values returns the values of a label among the series that match, within a time.
func (s *Store) Values(ctx context.Context, label, match string, from, until time.Time) (values []string, err error) {
	form := url.Values{"match[]": {match}, "start": {formatTimestamp(from)}, "end": {formatTimestamp(until)}}
	return values, s.fetchData(ctx, "label/"+url.PathEscape(label)+"/values", form, &values)
}

func formatTimestamp(t time.Time) string {
	return strconv.FormatFloat(float64(t.UnixMilli())/1e3, 'f', 3, 64)
}

// point is [time, "value"].
type point Point

func (p *point) UnmarshalJSON(text []byte) error {
	var value string
	pair := [2]any{&p.At, &value}
	if err := json.Unmarshal(text, &pair); err != nil {
		return err
	}
	var err error
	p.Value, err = strconv.ParseFloat(value, 64)
	return err
}

// fetchData sends a query and decodes the data of the answer.
func (s *Store) fetchData(ctx context.Context, endpoint string, form url.Values, data any) error {
	at := *s.base
	at.User, at.Path = nil, path.Join("/", at.Path, "api/v1", endpoint)
	method, body := http.MethodPost, io.Reader(strings.NewReader(form.Encode()))
	if strings.HasPrefix(endpoint, "label/") { // these endpoints accept GET only
		method, body = http.MethodGet, nil
		at.RawQuery = form.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, method, at.String(), body)
	if err != nil {
		return err
	}
	r.Header.Set("Accept", "application/json")
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if u := s.base.User; u != nil {
		password, _ := u.Password()
		r.SetBasicAuth(u.Username(), password)
	} else if s.token != "" {
		r.Header.Set("Authorization", "Bearer "+s.token)
	}
	resp, err := s.client.Do(r)
	if err != nil {
		return s.unreachableError(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return s.refusalError(resp)
	}
	answer := struct {
		Status, Error string
		Data          any
	}{Data: data}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(&answer); err != nil {
		return s.unreadableError(err)
	}
	if answer.Status != "success" {
		return fmt.Errorf("%s refuses the query: %s", s, answer.Error)
	}
	return nil
}

func (s *Store) unreachableError(err error) error {
	var ue *url.Error
	if errors.As(err, &ue) {
		if ue.Timeout() {
			return fmt.Errorf("%s: no answer within %s: ask for a shorter time (--since)", s, patience)
		}
		err = ue.Err
	}
	return fmt.Errorf("%s cannot be reached: %w: check --store, and that the store runs", s, err)
}

// unreadableError wraps the error of an answer that does not follow the API; nil stays nil.
func (s *Store) unreadableError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: its response is not from a Prometheus API: %w: give the address before /api/v1", s, err)
}

// refusalError returns why a store refused a query.
func (s *Store) refusalError(resp *http.Response) error {
	text, _ := io.ReadAll(io.LimitReader(resp.Body, maxError))
	var said struct{ Error string }
	if json.Unmarshal(text, &said) != nil || said.Error == "" {
		said.Error, _, _ = strings.Cut(strings.TrimSpace(string(text)), "\n")
	}
	if r := []rune(said.Error); len(r) > 300 {
		said.Error = string(r[:300]) + "…"
	}
	switch resp.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("%s answers %s: check the token (--token-file or UNSTALL_STORE_TOKEN), or NAME:PASSWORD@ in --store", s, resp.Status)
	case http.StatusNotFound:
		return fmt.Errorf("%s answers %s: no /api/v1 there: give the address before that, such as http://HOST:8481/select/0/prometheus of a cluster", s, resp.Status)
	}
	return fmt.Errorf("%s answers %s: %s", s, resp.Status, said.Error)
}
