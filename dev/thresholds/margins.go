package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"errors"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/unstall/unstall/dev/thresholds/meter"
	"github.com/unstall/unstall/internal/diagnose/check"
	causes "github.com/unstall/unstall/internal/diagnose/check/all"
)

// figure is what a recording compares with a threshold of a cause.
type figure struct {
	cause     string
	of        check.Threshold
	value     float64 // NaN: asked for and not known
	right     bool    // the cause is the recording's known answer
	supported bool
	recording string
}

// figures returns at most one figure for each threshold of each cause.
func (r *recording) figures() (all []figure) {
	for _, k := range causes.Causes {
		var lines []meter.Line
		for _, l := range r.lines {
			if l.Cause == k.ID {
				lines = append(lines, l)
			}
		}
		right := slices.Contains(r.sick, k.ID)
		if len(lines) == 0 || !right && r.untold(k.ID) {
			continue
		}
		if right && r.isSupported(k.ID) { // of several processes, the one with the cause
			lines = slices.DeleteFunc(lines, func(l meter.Line) bool { return !l.Supported })
		}
		for _, t := range k.Thresholds {
			if v, ok := figureOf(lines, t); ok {
				all = append(all, figure{k.ID, t, v, right, r.isSupported(k.ID), r.name})
			}
		}
	}
	return all
}

// figureOf returns the figure that a verdict keeps for a threshold, else the largest that was compared with it; ok is false if none
// was compared.
func figureOf(lines []meter.Line, t check.Threshold) (v float64, ok bool) {
	v = math.NaN()
	for _, l := range lines {
		x := l.Compared[t.Name]
		if x == nil {
			continue
		}
		ok = true
		most := x.Weighed
		if most == nil {
			if most = x.Most; isBelow(t) {
				most = x.Least
			}
		}
		if most == nil {
			continue
		}
		// A check may scale a threshold before it compares: scale the figure back.
		if f := *most * t.Value / x.Value; math.IsNaN(v) || (f > v) != isBelow(t) {
			v = f
		}
	}
	return v, ok
}

// isBelow says whether a cause needs a figure below the threshold, so that the least of several figures decides.
func isBelow(t check.Threshold) bool {
	return strings.Contains(t.Name, "below which") || strings.Contains(t.Name, "up to which")
}

// measureMargins returns the margins of all thresholds.
func measureMargins(all []*recording, comparable map[string]bool) *causes.Margins {
	m := &causes.Margins{Recordings: len(all), Computed: []string{}}
	type key struct{ cause, name string }
	of := make(map[key][]figure)
	for _, r := range all {
		if len(r.sick) > 0 {
			m.Sick++
		}
		for _, f := range r.figures() {
			shared := len(causes.Users(f.of)) > causes.Shared
			if shared {
				of[key{"", f.of.Name}] = append(of[key{"", f.of.Name}], f)
			}
			if !shared || f.of == check.Material {
				of[key{f.cause, f.of.Name}] = append(of[key{f.cause, f.of.Name}], f)
			}
		}
	}
	for k, figures := range of {
		m.Margins = append(m.Margins, marginOf(k.cause, figures))
	}
	slices.SortFunc(m.Margins, func(a, b causes.Margin) int {
		return cmp.Or(cmp.Compare(a.Cause, b.Cause), cmp.Compare(a.Name, b.Name))
	})
	for _, k := range causes.Causes {
		for _, t := range k.Thresholds {
			if !comparable[t.Name] && !slices.Contains(m.Computed, t.Name) {
				m.Computed = append(m.Computed, t.Name)
			}
		}
	}
	slices.Sort(m.Computed)
	setNever(m)
	return m
}

// setNever notes the thresholds without a margin.
func setNever(m *causes.Margins) {
	m.Never = []string{}
	for _, k := range causes.Causes {
		for _, t := range k.Thresholds {
			met := slices.ContainsFunc(m.Margins, func(x causes.Margin) bool { return x.Name == t.Name })
			if !met && !slices.Contains(m.Computed, t.Name) && !slices.Contains(m.Never, t.Name) {
				m.Never = append(m.Never, t.Name)
			}
		}
	}
	slices.Sort(m.Never)
}

func marginOf(cause string, figures []figure) causes.Margin {
	t := figures[0].of
	m := causes.Margin{Cause: cause, Name: t.Name, Value: t.Value}
	var with, without []float64
	for _, f := range figures {
		switch {
		case math.IsNaN(f.value):
			m.Unknown++
			continue
		case f.right:
			with = append(with, f.value)
		default:
			without = append(without, f.value)
		}
		if math.Abs(f.value-t.Value) <= causes.Near*t.Value {
			m.Near++
		}
	}
	m.With, m.Without = spreadOf(with, t.Value), spreadOf(without, t.Value)
	m.With.P95, m.Without.Median = nil, nil // nothing asks for them
	return m
}

func spreadOf(v []float64, threshold float64) causes.Spread {
	s := causes.Spread{Count: len(v)}
	if len(v) == 0 {
		return s
	}
	slices.Sort(v)
	for _, x := range v {
		if x >= threshold {
			s.Reached++
		}
	}
	at := func(q float64) *float64 { // the smallest with at least that part at or below it
		x, _ := strconv.ParseFloat(strconv.FormatFloat(v[max(0, int(math.Ceil(q*float64(len(v))))-1)], 'g', 3, 64), 64)
		return &x
	}
	s.Least, s.Median, s.P95, s.Most = at(0), at(.5), at(.95), at(1)
	return s
}

// writeMargins writes the margins as the program embeds them; docs/thresholds.md has them as text.
func writeMargins(name string, m *causes.Margins) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err = z.Write(text)
	if err = errors.Join(err, z.Close()); err != nil {
		return err
	}
	return os.WriteFile(name, b.Bytes(), 0o644)
}

// writeEach writes the figures of each recording.
func writeEach(name string, all []*recording) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	w := csv.NewWriter(f)
	rows := [][]string{{"cause", "threshold", "value", "figure", "right", "supported", "recording"}}
	for _, r := range all {
		for _, x := range r.figures() {
			rows = append(rows, []string{x.cause, x.of.Name, strconv.FormatFloat(x.of.Value, 'g', -1, 64), strconv.FormatFloat(x.value, 'g', -1, 64),
				strconv.FormatBool(x.right), strconv.FormatBool(x.supported), x.recording})
		}
	}
	return w.WriteAll(rows)
}
