package rule

import (
	"maps"
	"slices"
	"time"
)

// mostDays is how many days are remembered.
const mostDays = 62

// Usual is what was usual: the largest value of each day, of each series of each service. It is
// kept over restarts by its caller (it is JSON). Days are UTC's. It belongs to a service's name, not to
// a process, so that a restart begins nothing anew.
type Usual struct {
	// Maxima is by service, then by series and what is taken of it, then by day: 2026-11-23.
	Maxima map[string]map[string]map[string]float64 `json:"maxima"`
}

const day = "2006-01-02"

// addValue updates the maximum of a day.
func (u *Usual) addValue(service, key string, at int64, v float64) {
	if u.Maxima == nil {
		u.Maxima = make(map[string]map[string]map[string]float64)
	}
	if u.Maxima[service] == nil {
		u.Maxima[service] = make(map[string]map[string]float64)
	}
	of := u.Maxima[service][key]
	if of == nil {
		of = make(map[string]float64)
		u.Maxima[service][key] = of
	}
	today := time.Unix(0, at).UTC().Format(day)
	if was, ok := of[today]; !ok || v > was {
		of[today] = v
	}
	for len(of) > mostDays {
		delete(of, slices.Min(slices.Collect(maps.Keys(of))))
	}
}

// medianOfDays returns the median of the maxima of the last d.Days days before the day of at;
// false where fewer than d.Least are known. Later days, as a clock that was wrong leaves them, do
// not count.
func (u *Usual) medianOfDays(service, key string, at int64, d *Days) (float64, bool) {
	today := time.Unix(0, at).UTC()
	first := today.AddDate(0, 0, -d.Days).Format(day)
	var v []float64
	for when, most := range u.Maxima[service][key] {
		if when >= first && when < today.Format(day) {
			v = append(v, most)
		}
	}
	if len(v) < max(d.Least, 1) {
		return 0, false
	}
	slices.Sort(v)
	if n := len(v); n%2 == 0 {
		return (v[n/2-1] + v[n/2]) / 2, true
	}
	return v[len(v)/2], true
}

// Forget drops days older than [mostDays], and services that have no other days.
func (u *Usual) Forget(now int64) {
	last := time.Unix(0, now).UTC().AddDate(0, 0, -mostDays).Format(day)
	for service, keys := range u.Maxima {
		for key, days := range keys {
			maps.DeleteFunc(days, func(when string, _ float64) bool { return when < last })
			if len(days) == 0 {
				delete(keys, key)
			}
		}
		if len(keys) == 0 {
			delete(u.Maxima, service)
		}
	}
}
