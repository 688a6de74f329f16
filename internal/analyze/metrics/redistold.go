package metrics

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
)

// redisTold are the figures of INFO: each field at each answer, from all files together, because a file may hold a single
// answer.
type redisTold struct {
	fields  map[string]*Curve
	looks   []int64 // times of answers in the window, ns
	single  bool
	over    Window
	watched float64 // the share of the window that over covers
	origin  evidence.Origin
	any     bool // other reports exist, such as CLIENT LIST
	partly  bool // answers have only the section Commandstats, and no other figures
}

// redisToldOf collects the fields. Where the window has fewer than two answers, it adds those right outside it.
func redisToldOf(b *evidence.Bundle, subject evidence.SubjectID, w Window) *redisTold {
	t := &redisTold{fields: make(map[string]*Curve), watched: 1}
	for i := range b.Series {
		s := &b.Series[i]
		if s.Subject != subject || !strings.HasPrefix(s.Name, evidence.RedisInfo) || len(s.T) == 0 || s.Name == evidence.SeriesRedisPing {
			continue
		}
		t.any = true
		if k := t.fields[s.Name]; k == nil {
			t.fields[s.Name] = &Curve{T: s.T, V: s.V, Origin: s.Origin}
		} else {
			t.fields[s.Name] = k.withSeries(s)
		}
	}
	all := t.fields[evidence.SeriesRedisUptime]
	if !all.Known() {
		if all = t.callTimes(); all == nil {
			return t
		}
		t.partly = true
	}
	t.origin = all.Origin
	for _, at := range all.T {
		if at >= w.From && at <= w.Until {
			t.looks = append(t.looks, at)
		}
	}
	switch {
	case len(all.T) == 1:
		t.looks, t.single = all.T, true
		t.over = Window{all.T[0] - int64(all.V[0]*1e9), all.T[0]}
		return t
	case len(t.looks) < 2:
		i, _ := slices.BinarySearch(all.T, w.From)
		i = min(max(i-1, 0), len(all.T)-2)
		t.looks = []int64{all.T[i], all.T[i+1]}
	}
	t.over = Window{t.looks[0], t.looks[len(t.looks)-1]}
	if w != Whole && w.Until > w.From {
		t.watched = math.Min(1, float64(min(w.Until, t.over.Until)-max(w.From, t.over.From))/float64(w.Until-w.From))
	}
	return t
}

// callTimes returns the times of answers of which only the section Commandstats was kept. It returns nil for fewer than two, or
// where they are closer than the time of all commands between them: then the times are those of copying the files.
func (t *redisTold) callTimes() *Curve {
	all := &Curve{}
	var spent float64 // µs
	for name := range t.namesUnder(evidence.SeriesRedisCalls) {
		k := t.fields[evidence.SeriesRedisCalls+":"+name]
		all.T, all.Origin = append(all.T, k.T...), k.Origin
		if took := t.fields[evidence.SeriesRedisCallTime+":"+name]; took.Known() {
			spent += counterGrowth(took.V[0], took.Last())
		}
	}
	slices.Sort(all.T)
	all.T = slices.Compact(all.T)
	all.V = make([]float64, len(all.T))
	if len(all.T) < 2 || float64(all.T[len(all.T)-1]-all.T[0]) < spent*1e3 {
		return nil
	}
	return all
}

// withSeries returns a curve with the points of another file added.
func (k *Curve) withSeries(s *evidence.Series) *Curve {
	type point struct {
		t int64
		v float64
	}
	var all []point
	for _, of := range []Curve{*k, {T: s.T, V: s.V}} {
		for i, at := range of.T {
			all = append(all, point{at, of.V[i]})
		}
	}
	sorting.Short(all, func(x, y point) int { return cmp.Compare(x.t, y.t) })
	out := &Curve{Origin: k.Origin}
	for i, p := range all {
		if i == 0 || p.t != all[i-1].t {
			out.T, out.V = append(out.T, p.t), append(out.V, p.v)
		}
	}
	return out
}

// curveOf returns a field at each answer in the time read, nil if there is none.
func (t *redisTold) curveOf(name string) *Curve {
	k := t.fields[name]
	if !k.Known() {
		return nil
	}
	out := &Curve{Origin: k.Origin}
	for i, at := range k.T {
		if t.single || len(t.looks) == 0 || at >= t.over.From && at <= t.over.Until {
			out.T, out.V = append(out.T, at), append(out.V, k.V[i])
		}
	}
	if len(out.T) == 0 {
		return nil
	}
	return out
}

// counterGrowth returns a counter's growth from one value to the next; a counter that fell restarted from 0.
func counterGrowth(from, to float64) float64 {
	if to < from {
		return to
	}
	return to - from
}

// totalGrowth returns a counter's growth in total. A counter that appears later began at 0, such as that of a command that
// was not called before.
func (t *redisTold) totalGrowth(name string) Value {
	k := t.curveOf(name)
	if k == nil || len(t.looks) == 0 {
		return Unknown
	}
	var n float64
	if t.single || isLateCounter(name) && k.T[0] > t.over.From {
		n = k.V[0]
	}
	for i := 1; i < len(k.V); i++ {
		n += counterGrowth(k.V[i-1], k.V[i])
	}
	if !t.single && len(k.V) < 2 && n == 0 {
		return Unknown
	}
	return Value{Number: n, Origin: k.Origin, Watched: t.watched}
}

// isLateCounter reports whether INFO omits a counter while it is 0.
func isLateCounter(name string) bool {
	_, of, ok := strings.Cut(name, ":")
	return ok && of != ""
}

// rateOf returns a counter's growth per second.
func (t *redisTold) rateOf(name string) Value {
	v := t.totalGrowth(name)
	if s := t.over.Seconds(); v.Known() && s > 0 {
		v.Number /= s
		return v
	}
	return Unknown
}

// rateSteps returns a counter's growth per second between each two answers; the last value repeats the previous one.
func (t *redisTold) rateSteps(name string) *Curve {
	k := t.curveOf(name)
	if k == nil || len(k.T) < 2 {
		return nil
	}
	out := &Curve{Origin: k.Origin}
	for i := 1; i < len(k.T); i++ {
		out.T = append(out.T, k.T[i-1])
		out.V = append(out.V, counterGrowth(k.V[i-1], k.V[i])/(float64(k.T[i]-k.T[i-1])/1e9))
	}
	out.T, out.V = append(out.T, k.T[len(k.T)-1]), append(out.V, out.V[len(out.V)-1])
	return out
}

func (t *redisTold) valueOf(k *Curve, v float64) Value {
	if k == nil {
		return Unknown
	}
	return Value{Number: v, Origin: k.Origin, Watched: t.watched}
}

func (t *redisTold) meanOf(name string) Value {
	k := t.curveOf(name)
	if k == nil {
		return Unknown
	}
	var all float64
	for _, v := range k.V {
		all += v
	}
	return t.valueOf(k, all/float64(len(k.V)))
}

func (t *redisTold) maxOf(name string) Value {
	k := t.curveOf(name)
	if k == nil {
		return Unknown
	}
	return t.valueOf(k, slices.Max(k.V))
}

// mostEver returns the maximum over all answers, also before the first INFO and after the last one: clients are recorded at
// times of their own.
func (t *redisTold) mostEver(name string) Value {
	k := t.fields[name]
	if !k.Known() {
		return Unknown
	}
	return t.valueOf(k, slices.Max(k.V))
}

func (t *redisTold) lastOf(name string) Value {
	k := t.curveOf(name)
	return t.valueOf(k, k.Last())
}

// shareNonZero returns the share of answers at which any of some fields was above 0.
func (t *redisTold) shareNonZero(names ...string) Value {
	at := make(map[int64]bool)
	var of *Curve
	for _, name := range names {
		k := t.curveOf(name)
		if k == nil {
			continue
		}
		of = k
		for i, when := range k.T {
			at[when] = at[when] || k.V[i] > 0
		}
	}
	n := 0
	for _, is := range at {
		if is {
			n++
		}
	}
	if of == nil {
		return Unknown
	}
	return t.valueOf(of, float64(n)/float64(len(at)))
}

// namesUnder yields the part after the colon of series' names.
func (t *redisTold) namesUnder(series string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for name := range t.fields {
			if of, ok := strings.CutPrefix(name, series+":"); ok && !yield(of) {
				return
			}
		}
	}
}

// ownRate returns how many commands per second the recorder itself called.
func (t *redisTold) ownRate() Value {
	all := Unknown
	for name := range t.fields {
		if strings.HasPrefix(name, evidence.RedisOwn) {
			all = addValues(all, t.rateOf(name))
		}
	}
	return all
}

// subtractKnown returns a rate less another, where both are known.
func (t *redisTold) subtractKnown(v, own Value) Value {
	if v.Known() && own.Known() {
		v.Number = max(0, v.Number-own.Number)
	}
	return v
}

// addValues returns the sum of the known ones of two figures.
func addValues(v, o Value) Value {
	switch {
	case !v.Known():
		return o
	case o.Known():
		v.Number += o.Number
	}
	return v
}

func (v Value) multiplyBy(f float64) Value {
	v.Number *= f
	return v
}

// orElse returns a figure, or another where it is unknown.
func (v Value) orElse(o Value) Value {
	if v.Known() {
		return v
	}
	return o
}
