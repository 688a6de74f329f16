package rule

import (
	"maps"
	"slices"
	"time"
)

// mostDays is how many days are kept.
const mostDays = 62

// Usual holds usual values: the largest value of each day, by series and service. It is JSON that its caller stores over
// restarts. Days are in UTC. The values belong to a service's name and not to a process, so that they survive a restart.
type Usual struct {
	// Maxima is by service, then by series and Take, then by day: 2026-11-23.
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

// medianOfDays returns the median of the maxima of the last d.Days days before the day of at; false if fewer than d.Least
// are known. Later days, which a wrong clock leaves behind, do not count.
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

// Forget drops days older than [mostDays], and services without any other day.
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
