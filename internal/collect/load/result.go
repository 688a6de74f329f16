package load

import (
	"encoding/json"
	"io"
	"math"
	"runtime"
	"time"
)

// Result is what a run came to. It marshals to schema unstall.load/v1: unknown
// is null, and keys may be added.
//
// Every request that was offered is Completed, Unfinished, or one of the Errors
// without an answer. Errors also counts answers with neither 2xx nor 3xx.
type Result struct {
	URL         string   `json:"url"`
	Mode        string   `json:"mode"`
	LatencyFrom string   `json:"latency_from"`
	Duration    float64  `json:"duration_s"`   // first to last: of the schedule, or the last answer
	OfferedRate *float64 `json:"offered_rate"` // per second; of closed loops null
	Sent        int64    `json:"sent"`
	Completed   int64    `json:"completed"`  // answered, whatever the status
	Unfinished  int64    `json:"unfinished"` // not answered in time, or at the end, or never sent
	Timeouts    int64    `json:"timeouts"`   // of the unfinished, those that had the whole timeout
	Errors      int64    `json:"errors"`
	Requests    *string  `json:"requests"` // the file that has a row for each
	Rate        Rate     `json:"rate"`
	Latency     Latency  `json:"latency_ms"`
	SendLag     SendLag  `json:"send_lag_ms"`
	Codes       Codes    `json:"codes"`
	BytesPerS   float64  `json:"bytes_s"` // received

	// GeneratorLimited says that the figures are the generator's doing as well.
	GeneratorLimited bool `json:"generator_limited"`

	Start        time.Time   `json:"start"`
	Arrivals     string      `json:"arrivals"`
	HTTP         string      `json:"http,omitempty"`    // the version, 1.1 or 2; journeys may have several
	Connections  int         `json:"connections"`       // at most
	Streams      int         `json:"streams,omitempty"` // of HTTP/2: requests at once on each, at most
	Offered      int64       `json:"offered"`           // requests whose time came
	NeverSent    int64       `json:"never_sent"`        // of the unfinished, those that still waited for a connection
	Achieved     *float64    `json:"achieved"`          // answers per request offered, by the rates
	GeneratorCPU *float64    `json:"generator_cpus"`
	ErrorKinds   []ErrorKind `json:"error_kinds"`
	Warnings     []string    `json:"warnings"`

	Users    *Users    `json:"users,omitempty"` // of journeys
	Journeys []Journey `json:"journeys,omitempty"`
}

// Rate is answers per second, by whole seconds.
type Rate struct {
	Mean  float64  `json:"mean"`
	Stdev *float64 `json:"stdev"`
	Max   *float64 `json:"max"`
}

// Latency is in ms, of answers and of requests that were given up.
type Latency struct {
	Mean  *float64 `json:"mean"`
	Stdev *float64 `json:"stdev"`
	Max   *float64 `json:"max"`
	P50   *float64 `json:"p50"`
	P75   *float64 `json:"p75"`
	P90   *float64 `json:"p90"`
	P95   *float64 `json:"p95"`
	P99   *float64 `json:"p99"`
	P999  *float64 `json:"p999"`
	P9999 *float64 `json:"p9999"`
}

// SendLag is in ms: how late the generator was with a connection free.
type SendLag struct {
	P99 *float64 `json:"p99"`
	Max *float64 `json:"max"`
}

// Codes counts answers by the class of their status.
type Codes struct {
	Informational int64 `json:"1xx"`
	Success       int64 `json:"2xx"`
	Redirection   int64 `json:"3xx"`
	ClientError   int64 `json:"4xx"`
	ServerError   int64 `json:"5xx"`
	Other         int64 `json:"other"`
}

// ErrorKind is a reason why requests were not answered, and how many.
type ErrorKind struct {
	Text  string `json:"text"`
	Count int64  `json:"count"`
}

// Schema is the name and version of what a Result marshals to.
const Schema = "unstall.load/v1"

// MarshalJSON writes schema unstall.load/v1.
func (r *Result) MarshalJSON() ([]byte, error) {
	type plain Result
	return json.Marshal(struct {
		Schema string `json:"schema"`
		*plain
	}{Schema, (*plain)(r.roundDigits())})
}

// JSON writes the result as a document.
func (r *Result) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(r)
}

// roundDigits returns the result with no more digits than were measured: µs, and shares to a
// millionth.
func (r *Result) roundDigits() *Result {
	c := *r
	round := func(v *float64, unit float64) *float64 {
		if v == nil {
			return nil
		}
		x := math.Round(*v/unit) * unit
		x = math.Round(x*1e6) / 1e6
		return &x
	}
	l := &c.Latency
	for _, v := range []**float64{&l.Mean, &l.Stdev, &l.Max, &l.P50, &l.P75, &l.P90, &l.P95, &l.P99, &l.P999, &l.P9999,
		&c.SendLag.P99, &c.SendLag.Max, &c.Achieved, &c.GeneratorCPU, &c.OfferedRate, &c.Rate.Stdev} {
		*v = round(*v, 1e-4)
	}
	for _, v := range []*float64{&c.Duration, &c.Rate.Mean, &c.BytesPerS} {
		*v = *round(v, 1e-3)
	}
	c.Journeys = roundJourneys(c.Journeys)
	if c.ErrorKinds == nil {
		c.ErrorKinds = []ErrorKind{}
	}
	if c.Warnings == nil {
		c.Warnings = []string{}
	}
	return &c
}

func cpuCount() int { return runtime.NumCPU() }
