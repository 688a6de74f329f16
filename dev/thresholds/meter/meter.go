// Package meter keeps the figures that checks compare with their thresholds. Only the build that dev/thresholds makes calls it: that
// build puts a call around each comparison, as the compiler's coverage puts a counter into each block. The product does not import it.
//
// Its opinion: a figure is what the threshold would have to be for the comparison to be even. So a comparison such as
// stopped >= part*total gives stopped/total, in the threshold's own unit, and checks need not be written for it.
package meter

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"reflect"
	"strconv"
	"sync"
)

// Env names the folder that figures are written to; nothing is kept without it.
const Env = "UNSTALL_METER"

// Line is what one asking of a check compared.
type Line struct {
	Cause     string           `json:"cause"`
	Supported bool             `json:"supported"`
	Compared  map[string]*Seen `json:"compared"` // by the threshold's name
}

// Head is the first line of a file.
type Head struct {
	Args []string `json:"args"`
}

// Seen sums up the figures that were compared with a threshold.
type Seen struct {
	Value   float64  `json:"value"`   // of the threshold
	Times   int      `json:"times"`   // comparisons, also those without a figure
	Least   *float64 `json:"least"`   // nil: no comparison has a figure
	Most    *float64 `json:"most"`    //
	Weighed *float64 `json:"weighed"` // the last figure that the verdict itself keeps
	Held    bool     `json:"held"`    // some comparison held, whichever way it is written
}

type recorder map[string]*Seen

func (r recorder) of(name string, value float64) *Seen {
	x := r[name]
	if x == nil {
		x = &Seen{Value: value}
		r[name] = x
	}
	return x
}

func (r recorder) add(other recorder) {
	for name, y := range other {
		x := r.of(name, y.Value)
		x.Times += y.Times
		x.Held = x.Held || y.Held
		if y.Least != nil {
			x.note(*y.Least)
			x.note(*y.Most)
		}
		if y.Weighed != nil {
			x.Weighed = y.Weighed
		}
	}
}

func (s *Seen) note(figure float64) {
	if s.Least == nil || figure < *s.Least {
		s.Least = &figure
	}
	if s.Most == nil || figure > *s.Most {
		s.Most = &figure
	}
}

type cached struct {
	of  any
	key reflect.Type
}

var (
	mu    sync.Mutex
	stack []recorder // of checks that are asked, and of what they read once
	kept  = map[cached]recorder{}
	out   *json.Encoder
)

// Compare notes a comparison with a threshold. Gap is the difference of its sides, by the threshold's value.
func Compare(holds bool, name string, value float64, gap func(value float64) float64) bool {
	mu.Lock()
	on := len(stack) > 0
	mu.Unlock()
	if !on {
		return holds
	}
	figure := Even(value, gap)
	mu.Lock()
	defer mu.Unlock()
	x := stack[len(stack)-1].of(name, value)
	x.Times++
	x.Held = x.Held || holds
	if isFinite(figure) {
		x.note(figure)
	}
	return holds
}

// tolerance bounds what integer division rounds away.
const tolerance = 1e-6

// Even returns the threshold's value at which the gap is zero, for gaps that are a + b·value or a + b/value; NaN for others.
func Even(value float64, gap func(float64) float64) float64 {
	one, two, four := gap(value), gap(2*value), gap(4*value)
	bound := tolerance * (1 + max(math.Abs(one), math.Abs(two), math.Abs(four)))
	if value == 0 || !isFinite(one) || !isFinite(two) || !isFinite(four) || one == two {
		return math.NaN()
	}
	if slope := (two - one) / value; math.Abs(four-(one+3*value*slope)) <= bound {
		return value - one/slope
	}
	b := 2 * value * (one - two)
	if a := one - b/value; math.Abs(four-(a+b/(4*value))) <= bound {
		return -b / a
	}
	return math.NaN()
}

func isFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// Weighed notes a figure that a verdict keeps for --why.
func Weighed(name string, value, figure float64) {
	mu.Lock()
	defer mu.Unlock()
	if len(stack) == 0 {
		return
	}
	x := stack[len(stack)-1].of(name, value)
	x.Times++
	x.Held = x.Held || figure >= value
	if isFinite(figure) {
		x.Weighed = &figure
	}
}

// Asked returns judge with what it compares written down.
func Asked[C any, V interface{ Supported() bool }](cause string, judge func(C) V) func(C) V {
	return func(c C) (v V) {
		defer beginRecord()(cause, func() bool { return v.Supported() })
		v = judge(c)
		return v
	}
}

// AskedHost is [Asked] for a check of a host alone.
func AskedHost[C any, V interface{ Supported() bool }](cause string, judge func(C) (V, bool)) func(C) (V, bool) {
	return func(c C) (v V, ok bool) {
		defer beginRecord()(cause, func() bool { return ok && v.Supported() })
		v, ok = judge(c)
		return v, ok
	}
}

func beginRecord() (end func(cause string, supported func() bool)) {
	mu.Lock()
	defer mu.Unlock()
	stack = append(stack, recorder{})
	return func(cause string, supported func() bool) {
		mu.Lock()
		defer mu.Unlock()
		r := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		appendLine(Line{Cause: cause, Supported: supported(), Compared: r})
	}
}

// Once notes what is compared while something is read once, for the check that reads it first.
func Once[T any](of any, key reflect.Type, read func() T) T {
	mu.Lock()
	stack = append(stack, recorder{})
	mu.Unlock()
	v := read()
	mu.Lock()
	defer mu.Unlock()
	r := stack[len(stack)-1]
	stack = stack[:len(stack)-1]
	kept[cached{of, key}] = r
	if len(stack) > 0 {
		stack[len(stack)-1].add(r)
	}
	return v
}

// Again notes the same for others that read it.
func Again(of any, key reflect.Type) {
	mu.Lock()
	defer mu.Unlock()
	if r := kept[cached{of, key}]; r != nil && len(stack) > 0 {
		stack[len(stack)-1].add(r)
	}
}

// appendLine appends a line to this process's file. It panics if it cannot: a lost figure would be a wrong margin.
func appendLine(x Line) {
	dir := os.Getenv(Env)
	if dir == "" {
		return
	}
	if out == nil {
		f, err := os.CreateTemp(dir, strconv.Itoa(os.Getpid())+"-*.jsonl")
		if err != nil {
			panic(fmt.Errorf("%s: %w", Env, err))
		}
		out = json.NewEncoder(f)
		if err := out.Encode(Head{os.Args[1:]}); err != nil {
			panic(err)
		}
	}
	if err := out.Encode(x); err != nil {
		panic(err)
	}
}
