package app

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/unstall/unstall/internal/diagnose/timeline"
)

// version of the payload; the script refuses others.
const version = 1

type payload struct {
	Version    int               `json:"version"`
	Subject    string            `json:"subject"`
	From       string            `json:"from"`
	Span       int64             `json:"span"`
	Tick       int64             `json:"tick"`
	Anchored   bool              `json:"anchored"`
	Lanes      string            `json:"lanes"`
	Threshold  int64             `json:"threshold"`
	Omitted    []string          `json:"omitted,omitempty"`
	Titles     map[string]string `json:"titles"`
	Requests   []points          `json:"requests"`
	Charged    int               `json:"charged"`
	Routes     []route           `json:"routes"`
	Bands      []band            `json:"bands"`
	Charts     []chart           `json:"charts"`
	Slow       requests          `json:"slow"`
	Typical    requests          `json:"typical"`
	Processors []processors      `json:"processors"`
	Flames     []flame           `json:"flames"`
	Strings    []string          `json:"strings"`
}

type route struct {
	Name  string `json:"name"`
	Slow  int    `json:"slow"`
	Time  int64  `json:"time"`
	Parts []part `json:"parts"`
}

type part struct {
	Mechanism string `json:"mechanism"`
	Time      int64  `json:"time"`
}

type points struct {
	Source  string   `json:"source"`
	Count   int      `json:"count"`
	Cell    int64    `json:"cell"`
	Routes  []string `json:"routes"`
	At      column   `json:"at"`
	Latency column   `json:"latency"`
	Number  column   `json:"number,omitzero"`
	Route   column   `json:"route,omitzero"`
	Flags   column   `json:"flags,omitzero"`
	Detail  column   `json:"detail,omitzero"`
}

type band struct {
	ID      string   `json:"id"`
	Title   string   `json:"title"`
	Source  string   `json:"source"`
	At      column   `json:"at"`
	Dur     column   `json:"dur"`
	Text    []string `json:"text,omitempty"`
	Number  column   `json:"number,omitzero"`
	Longest column   `json:"longest,omitzero"`
	Busy    column   `json:"busy,omitzero"`
	// Since and Until bound the times when it was watched; left out: all the time.
	Since column `json:"since,omitzero"`
	Until column `json:"until,omitzero"`
}

type chart struct {
	ID      string  `json:"id"`
	Title   string  `json:"title"`
	Unit    string  `json:"unit"`
	Stacked bool    `json:"stacked"`
	Route   string  `json:"route,omitempty"`
	Curves  []curve `json:"curves"`
}

type curve struct {
	ID     string `json:"id"`
	Title  string `json:"title"`
	Source string `json:"source"`
	T      column `json:"t"`
	V      column `json:"v"`
	Max    column `json:"max,omitzero"`
	// Readings: nothing is known between two points.
	Readings bool `json:"readings,omitempty"`
	// Sloped: between two points it changes evenly.
	Sloped bool `json:"sloped,omitempty"`
}

type flame struct {
	ID     string `json:"id"`
	Title  string `json:"title"`
	Unit   string `json:"unit"`
	Total  int64  `json:"total"`
	Cut    int64  `json:"cut"`
	Parent column `json:"parent"`
	Name   column `json:"name"`
	Kind   column `json:"kind"`
	Value  column `json:"value"`
}

// Payload encodes a timeline for the script in the form of the package comment. It returns
// an error if columns of one thing differ in length.
func Payload(t *timeline.Timeline) ([]byte, error) {
	e := encoder{t: t, index: map[string]int64{"": 0}, strings: []string{""}}
	p, err := e.encodePayload()
	if err != nil {
		return nil, fmt.Errorf("timeline of %s: %w", t.Subject, err)
	}
	return json.Marshal(p) // escapes <, >, & and U+2028, U+2029; what is not UTF-8 becomes U+FFFD
}

// encoder interns the strings of a payload.
type encoder struct {
	t       *timeline.Timeline
	strings []string
	index   map[string]int64
}

func (e *encoder) internString(s string) int64 {
	i, ok := e.index[s]
	if !ok {
		i = int64(len(e.strings))
		e.strings = append(e.strings, s)
		e.index[s] = i
	}
	return i
}

func (e *encoder) encodePayload() (*payload, error) {
	t := e.t
	span := max(t.To-t.From, 0)
	p := &payload{
		Version:  version,
		Subject:  t.Subject,
		From:     strconv.FormatInt(t.From, 10),
		Span:     span,
		Tick:     span/math.MaxUint32 + 1,
		Anchored: t.Anchored, Lanes: t.Lanes, Threshold: t.Threshold, Omitted: t.Omitted,
		Titles:  t.Titles(),
		Charged: t.Charged, Routes: make([]route, len(t.Routes)),
	}
	for i, r := range t.Routes {
		p.Routes[i] = route{r.Name, r.Slow, r.Time, make([]part, len(r.Parts))}
		for k, x := range r.Parts {
			p.Routes[i].Parts[k] = part{x.Mechanism, x.Dur}
		}
	}
	var err error
	if p.Requests, err = encodeEach(t.Requests, func(r *timeline.Points) (points, error) { return e.encodePoints(r, p.Tick) }); err != nil {
		return nil, err
	}
	if p.Bands, err = encodeEach(t.Bands, e.encodeBand); err != nil {
		return nil, err
	}
	if p.Charts, err = encodeEach(t.Charts, e.encodeChart); err != nil {
		return nil, err
	}
	if p.Slow, err = e.encodeRequests(t.Slow); err != nil {
		return nil, err
	}
	if p.Typical, err = e.encodeRequests(t.Typical); err != nil {
		return nil, err
	}
	if p.Processors, err = encodeEach(t.Processors, e.encodeProcessors); err != nil {
		return nil, err
	}
	if p.Flames, err = encodeEach(t.Flames, e.encodeFlame); err != nil {
		return nil, err
	}
	p.Strings = e.strings
	return p, nil
}

// encodeEach encodes each element of a list.
func encodeEach[T, U any](in []T, encode func(*T) (U, error)) ([]U, error) {
	out := make([]U, len(in))
	for i := range in {
		var err error
		if out[i], err = encode(&in[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (e *encoder) encodePoints(r *timeline.Points, tick int64) (points, error) {
	n := len(r.At)
	if err := checkLengths("requests of "+r.Source, n, len(r.Latency), lengthOr(r.Number, n), lengthOr(r.Route, n), lengthOr(r.Flags, n), lengthOr(r.Detail, n)); err != nil {
		return points{}, err
	}
	at := make([]uint32, n)
	for i, v := range r.At {
		at[i] = uint32(min(max(v-e.t.From, 0)/tick, math.MaxUint32))
	}
	return points{
		Source: r.Source, Count: r.Count, Cell: r.Cell, Routes: append([]string{}, r.Routes...),
		At: column{"u32", at}, Latency: newDurationColumn(r.Latency), Number: newOptionalColumn(r.Number), Route: newOptionalColumn(r.Route),
		Flags: newOptionalColumn(r.Flags), Detail: newOptionalColumn(r.Detail),
	}, nil
}

func (e *encoder) encodeBand(b *timeline.Band) (band, error) {
	n := len(b.From)
	if err := checkLengths("band "+b.ID, n, len(b.To), lengthOr(b.Text, n), lengthOr(b.Number, n), lengthOr(b.Longest, n), lengthOr(b.Busy, n)); err != nil {
		return band{}, err
	}
	out := band{
		ID: b.ID, Title: b.Title, Source: b.Source,
		At: newIntegerColumn(offsetsFrom(b.From, e.t.From)), Dur: newDurationColumn(spanDurations(b.From, b.To)), Text: b.Text,
		Number: newOptionalColumn(b.Number), Longest: newOptionalColumn(b.Longest), Busy: newOptionalColumn(b.Busy),
	}
	if b.Watched != nil {
		var from, until []int64
		for _, w := range b.Watched {
			from, until = append(from, w[0]-e.t.From), append(until, w[1]-e.t.From)
		}
		out.Since, out.Until = newIntegerColumn(from), newIntegerColumn(until)
	}
	return out, nil
}

func (e *encoder) encodeChart(c *timeline.Chart) (chart, error) {
	curves, err := encodeEach(c.Curves, func(v *timeline.Curve) (curve, error) {
		n := len(v.T)
		if err := checkLengths("curve "+c.ID+" "+v.ID, n, len(v.V), lengthOr(v.Max, n)); err != nil {
			return curve{}, err
		}
		out := curve{ID: v.ID, Title: v.Title, Source: v.Source, T: newIntegerColumn(offsetsFrom(v.T, e.t.From)), V: newFloatColumn(v.V), Readings: v.Readings, Sloped: v.Sloped}
		if v.Max != nil {
			out.Max = newFloatColumn(v.Max)
		}
		return out, nil
	})
	return chart{c.ID, c.Title, c.Unit, c.Stacked, c.Route, curves}, err
}

func (e *encoder) encodeFlame(f *timeline.Flame) (flame, error) {
	parent, name, kind, value := make([]int64, len(f.Nodes)), make([]int64, len(f.Nodes)), make([]int64, len(f.Nodes)), make([]int64, len(f.Nodes))
	for i := range f.Nodes {
		v := &f.Nodes[i]
		if int(v.Parent) >= i || (v.Parent < 0) != (i == 0) {
			return flame{}, fmt.Errorf("flame %s: node %d comes before its parent %d", f.ID, i, v.Parent)
		}
		parent[i], name[i], kind[i], value[i] = int64(v.Parent), e.internString(v.Name), e.internString(v.Kind), v.Value
	}
	return flame{f.ID, f.Title, f.Unit, f.Total, f.Cut, newIntegerColumn(parent), newIntegerColumn(name), newIntegerColumn(kind), newIntegerColumn(value)}, nil
}

// checkLengths returns an error if the columns of one thing differ in length.
func checkLengths(of string, n int, others ...int) error {
	for _, o := range others {
		if o != n {
			return fmt.Errorf("%s: columns of %d and %d rows", of, n, o)
		}
	}
	return nil
}

// lengthOr returns the length of a column, n if it is absent.
func lengthOr[T any](v []T, n int) int {
	if v == nil {
		return n
	}
	return len(v)
}

func offsetsFrom(v []int64, from int64) []int64 {
	out := make([]int64, len(v))
	for i := range v {
		out[i] = v[i] - from
	}
	return out
}

func spanDurations(from, to []int64) []int64 {
	out := make([]int64, len(from))
	for i := range from {
		out[i] = max(to[i]-from[i], 0)
	}
	return out
}
