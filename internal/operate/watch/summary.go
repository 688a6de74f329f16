package watch

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/operate/watch/rule"
)

// Attribution says where slow time went, over all diagnoses since the watcher began.
type Attribution struct {
	Seconds  map[Where]float64          // slow seconds
	Causes   map[Blamed]float64         // slow seconds that would not exist without a cause; they overlap
	Requests map[Release]float64        // requests whose slow time is in Seconds
	Slow     map[Release]float64        // the slow ones among them
	Verdicts map[string]map[string]bool // by service: causes that the newest diagnosis supports
	known    map[string]map[string]bool // by service: causes of all its diagnoses
}

// Release is a version of a service, "" unknown.
type Release struct{ Service, Version string }

// Where is a mechanism of a version of a service.
type Where struct {
	Release
	Mechanism string
}

// Blamed is a cause of a service's slow time.
type Blamed struct{ Service, Cause string }

func (a *Attribution) init() {
	a.Causes, a.Requests, a.Slow = make(map[Blamed]float64), make(map[Release]float64), make(map[Release]float64)
	a.Seconds, a.Verdicts, a.known = make(map[Where]float64), make(map[string]map[string]bool), make(map[string]map[string]bool)
}

func (a *Attribution) addDiagnosis(s *subject, d *diagnose.Diagnosis) {
	for _, e := range d.Ledger {
		a.Seconds[Where{s.serviceRelease(), e.Mechanism}] += e.SlowMs / 1e3
	}
	if d.Requests != nil {
		a.Requests[s.serviceRelease()] += float64(d.Requests.LedgerCount)
		a.Slow[s.serviceRelease()] += float64(d.Requests.Slow)
	}
	now := make(map[string]bool)
	if a.known[s.Service] == nil {
		a.known[s.Service] = make(map[string]bool)
	}
	for _, v := range d.Verdicts {
		if v.Verdict == "supported" {
			now[v.Cause], a.known[s.Service][v.Cause] = true, true
			if v.Saves != nil && v.Saves.Value > 0 {
				a.Causes[Blamed{s.Service, v.Cause}] += v.Saves.Value / 1e3
			}
		}
	}
	a.Verdicts[s.Service] = now
}

// summary is a day's summary. It is stored over restarts.
type summary struct {
	Day      string              `json:"day"` // in UTC: 2026-11-23
	Services map[string]*dayOf   `json:"services"`
	Before   map[string]*dayOf   `json:"before"`   // the day before
	Versions map[string][]string `json:"versions"` // causes seen with a service's last version, by "service version"
}

// dayOf is a service's part of a day.
type dayOf struct {
	SlowMs float64            `json:"slow_ms"` // of slow requests
	Alarms map[string]int     `json:"alarms"`  // by rule
	Causes map[string]float64 `json:"causes"`  // ms of slow time in diagnoses that each accounts for; 0 unknown
}

// Service is a service in a summary.
type Service struct {
	Service   string             `json:"service"`
	Version   string             `json:"version,omitempty"`
	SlowS     float64            `json:"slow_s"`                  // of its requests that were slow, all day
	BeforeS   *float64           `json:"slow_before_s,omitempty"` // the day before
	CausesMs  map[string]float64 `json:"causes_ms,omitempty"`     // of what was diagnosed
	Alarms    map[string]int     `json:"alarms,omitempty"`
	NewCauses []string           `json:"new_causes,omitempty"` // that its version before had not
}

func (d *summary) serviceDay(service string) *dayOf {
	if d.Services == nil {
		d.Services = make(map[string]*dayOf)
	}
	x := d.Services[service]
	if x == nil {
		x = &dayOf{Alarms: make(map[string]int), Causes: make(map[string]float64)}
		d.Services[service] = x
	}
	return x
}

func (d *summary) addAlarm(ev rule.Event) { d.serviceDay(ev.Subject.Service).Alarms[ev.Rule.ID]++ }

func (d *summary) addDiagnosis(service string, of *diagnose.Diagnosis) {
	x := d.serviceDay(service)
	for _, v := range of.Verdicts {
		if v.Verdict != "supported" {
			continue
		}
		ms := 0.
		if v.Saves != nil {
			ms = v.Saves.Value
		}
		x.Causes[v.Cause] += ms
	}
}

// reportDay writes the summary of a day that has ended. A clock that is set back ends no day.
func (w *Watcher) reportDay(now time.Time) {
	today := now.UTC().Format("2006-01-02")
	w.mu.Lock()
	for _, s := range w.subjects {
		if ms := s.requests.takeSlow(); ms > 0 {
			w.day.serviceDay(s.Service).SlowMs += ms
		}
	}
	if w.day.Day == "" {
		w.day.Day = today
	}
	if today <= w.day.Day {
		w.mu.Unlock()
		return
	}
	line := w.summarizeDay()
	w.day.Before, w.day.Services, w.day.Day = w.day.Services, nil, today
	w.mu.Unlock()
	w.log.writeLine(line)
	w.saveMemory()
}

// summarizeDay returns the line about the day. The caller holds mu.
func (w *Watcher) summarizeDay() Line {
	versions := make(map[string]string)
	for _, s := range w.subjects {
		versions[s.Service] = cmp.Or(s.release, s.target.Version)
		w.day.serviceDay(s.Service)
	}
	if w.day.Versions == nil {
		w.day.Versions = make(map[string][]string)
	}
	var all []Service
	for _, name := range slices.Sorted(maps.Keys(w.day.Services)) {
		x := w.day.Services[name]
		s := Service{Service: name, Version: versions[name], SlowS: x.SlowMs / 1e3, CausesMs: x.Causes, Alarms: x.Alarms}
		if was := w.day.Before[name]; was != nil {
			v := was.SlowMs / 1e3
			s.BeforeS = &v
		}
		key := name + " " + s.Version
		seen, before := w.day.Versions[key], false
		for other := range w.day.Versions {
			before = before || other != key && strings.HasPrefix(other, name+" ")
		}
		for _, cause := range slices.Sorted(maps.Keys(x.Causes)) {
			if !slices.Contains(seen, cause) {
				seen = append(seen, cause)
				if before && !w.hadBefore(name, key, cause) {
					s.NewCauses = append(s.NewCauses, cause)
				}
			}
		}
		w.day.Versions[key] = append([]string{}, seen...)
		all = append(all, s)
	}
	sorting.Short(all, func(a, b Service) int { return cmp.Compare(b.SlowS, a.SlowS) })
	return Line{Event: EventSummary, Services: all, Text: inWords(w.day.Day, all)}
}

func (w *Watcher) hadBefore(name, key, cause string) bool {
	for other, causes := range w.day.Versions {
		if other != key && strings.HasPrefix(other, name+" ") && slices.Contains(causes, cause) {
			return true
		}
	}
	return false
}

// inWords returns the summary of a day as a sentence.
func inWords(day string, all []Service) string {
	alarms, slow := 0, 0.
	var fresh []string
	for _, s := range all {
		slow += s.SlowS
		for _, n := range s.Alarms {
			alarms += n
		}
		for _, c := range s.NewCauses {
			fresh = append(fresh, s.Service+" "+c)
		}
	}
	text := fmt.Sprintf("%s: %s, %s of slow requests in %s", day, units.Plural(alarms, "alarm"), units.Of(slow, "s"), units.Plural(len(all), "service"))
	if len(all) > 0 && all[0].SlowS > 0 {
		text += ", most of it in " + all[0].Service
		if b := all[0].BeforeS; b != nil {
			text += fmt.Sprintf(" (%s the day before)", units.Of(*b, "s"))
		}
	}
	if len(fresh) > 0 {
		text += "; new since the last version: " + strings.Join(fresh, ", ")
	}
	return text
}

// takeSlow returns how long slow requests took since the last call, in ms.
func (r *requests) takeSlow() float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	ms := r.slowMs
	r.slowMs = 0
	return ms
}
