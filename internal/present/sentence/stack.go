package sentence

import (
	"fmt"
	"strings"

	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose"
)

// StackView is where the time of requests went through a stack of services, as reports show it.
type StackView struct {
	Of      string // "mean ms per slow request"
	By      string // "journey step"
	Columns []string
	Parts   []string // what each column after the second is: "outside", "front", "wait", "run", "store", "calls", "kernel", "else"
	Rows    []StackRow
	Notes   []string // what the columns mean, and what is known of the store
}

// StackRow is one step or route.
type StackRow struct {
	Name  string
	Cells []string  // as many as columns
	Parts []float64 // ms, of the view's Parts: they add up to the second column
}

// leastShown is the smallest time that is printed, in ms: web servers log whole milliseconds.
const leastShown = .01

// Stack returns where the time went: by steps of journeys where users were on some, of slow
// requests if there are any; else by routes, of all requests. It returns nil if no requests were
// followed.
func Stack(t *diagnose.RequestPath) *StackView {
	if t == nil {
		return nil
	}
	v := &StackView{By: "route", Of: "mean ms per request"}
	rows, left := t.Routes, t.Left
	if len(t.Journeys) > 0 {
		v.By, rows, left = "journey step", t.Journeys, t.JourneysLeft
		if slow := slowOf(rows); len(slow) > 0 {
			v.Of, rows = "mean ms per slow request", slow
		}
	}
	several := make(map[string]int)
	for _, r := range rows {
		several[r.Step]++
	}
	worker := t.Worker
	if worker == "" {
		worker = "worker"
	}
	columns := []struct {
		kind string
		head string
		of   func(*diagnose.Steps) float64
		note string
	}{
		{"outside", "outside", func(s *diagnose.Steps) float64 { return s.OutsideMs }, "outside: between the users and " + t.Title + ", including delays of the load generator"},
		{"front", t.Title, func(s *diagnose.Steps) float64 { return s.FrontMs }, ""},
		{"wait", "wait", func(s *diagnose.Steps) float64 { return s.WaitMs }, "wait: in the queue for " + t.Pool},
		{"run", worker, func(s *diagnose.Steps) float64 { return s.RunMs }, worker + ": a worker ran or was runnable"},
		{"store", "store", func(s *diagnose.Steps) float64 { return s.StoreMs }, ""},
		{"calls", "calls", func(s *diagnose.Steps) float64 { return s.CallMs }, "calls: a worker waited for other network calls"},
		{"kernel", "kernel", func(s *diagnose.Steps) float64 { return s.KernelMs }, "kernel: a worker was in the kernel for another reason"},
		{"else", "else", func(s *diagnose.Steps) float64 { return s.OtherMs }, "else: a worker slept or waited for something else"},
	}
	if t.Store != nil {
		columns[4].head, columns[4].note = t.Store.Title, t.Store.Title+": a worker waited for it"
	}
	shown := columns[:0]
	for _, c := range columns {
		for i := range rows {
			if c.of(&rows[i]) >= leastShown {
				shown = append(shown, c)
				break
			}
		}
	}
	v.Columns = []string{"count", "all"}
	var notes []string
	for _, c := range shown {
		v.Columns, v.Parts = append(v.Columns, c.head), append(v.Parts, c.kind)
		if c.note != "" {
			notes = append(notes, c.note)
		}
	}
	for i := range rows {
		r := &rows[i]
		if r.MeanMs < leastShown {
			continue
		}
		row := StackRow{Name: stepName(r, several[r.Step] > 1), Cells: []string{units.Count(int64(r.Requests)), formatAmount(r.MeanMs)}}
		for _, c := range shown {
			row.Cells, row.Parts = append(row.Cells, formatAmount(c.of(r))), append(row.Parts, c.of(r))
		}
		v.Rows = append(v.Rows, row)
	}
	if len(v.Rows) == 0 {
		return nil
	}
	if left > 0 {
		v.Notes = append(v.Notes, fmt.Sprintf("%d more that took less total time are not shown", left))
	}
	v.Notes = append(v.Notes, strings.Join(notes, "; ")+". Workers are sampled, and their time is divided among the requests in flight")
	if said := describeStore(t.Store); said != "" {
		v.Notes = append(v.Notes, said)
	}
	return v
}

// slowOf returns the slow requests of each step.
func slowOf(rows []diagnose.Steps) (slow []diagnose.Steps) {
	for _, r := range rows {
		if r.Slow != nil {
			slow = append(slow, *r.Slow)
		}
	}
	return slow
}

// stepName returns a step's name, with the route where the step has several.
func stepName(r *diagnose.Steps, several bool) string {
	switch {
	case r.Step == "":
		return r.Route
	case several && !strings.HasSuffix(r.Step, r.Route):
		return r.Step + " · " + r.Route
	}
	return r.Step
}

// describeStore says what is known of the store that workers call.
func describeStore(s *diagnose.Store) string {
	if s == nil || s.Busy == nil || len(s.Most) == 0 {
		return ""
	}
	var most []string
	for _, c := range s.Most[:min(len(s.Most), 3)] {
		most = append(most, fmt.Sprintf("%s (%s each)", c.Name, units.Ms(c.Ms)))
	}
	return fmt.Sprintf("%s ran commands for %s of the time, most of it %s; the rest of the workers' wait was network, wake-ups and queueing behind other commands",
		s.Subject, units.Percent(*s.Busy), strings.Join(most, ", "))
}

// formatAmount returns a figure in ms, "–" if it is too small to be told.
func formatAmount(ms float64) string {
	if ms < leastShown {
		return "–"
	}
	return units.Num(ms)
}
