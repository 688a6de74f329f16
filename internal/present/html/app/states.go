package app

import (
	"github.com/unstall/unstall/internal/diagnose/timeline"
)

type requests struct {
	At      column `json:"at"`
	Latency column `json:"latency"`
	Lane    column `json:"lane,omitzero"`
	Source  column `json:"source,omitzero"`
	Origin  column `json:"origin,omitzero"`
	Route   column `json:"route,omitzero"`
	Outcome column `json:"outcome,omitzero"`
	Slow    column `json:"slow,omitzero"`
	Apart   column `json:"apart,omitzero"`
	First   column `json:"first"`
	States  states `json:"states"`
}

type states struct {
	At            column `json:"at,omitzero"`
	Dur           column `json:"dur"`
	Number        column `json:"number,omitzero"`
	Kind          column `json:"kind,omitzero"`
	Mechanism     column `json:"mechanism,omitzero"`
	What          column `json:"what,omitzero"`
	Where         column `json:"where,omitzero"`
	Holder        column `json:"holder,omitzero"`
	Part          column `json:"part,omitzero"`
	PartMechanism column `json:"partMechanism,omitzero"`
	PartDur       column `json:"partDur,omitzero"`
}

// requests puts the states of all of them in columns: there may be many short ones.
func (e *encoder) requests(in []timeline.Request) (requests, error) {
	var at, latency, lane, source, origin, route, outcome []int64
	var slow, apart, sNumber []int64
	var sAt, sDur, sKind, sMechanism, sWhat, sWhere, sHolder, part, partMechanism, partDur []int64
	first, gapless := []int64{0}, true
	for i := range in {
		r := &in[i]
		at, latency, lane = append(at, r.At-e.t.From), append(latency, r.Latency), append(lane, r.Lane)
		source, origin = append(source, e.text(r.Source)), append(origin, e.text(r.Origin))
		route, outcome = append(route, e.text(r.Route)), append(outcome, e.text(r.Outcome))
		slow, apart = append(slow, yes(r.Slow)), append(apart, yes(r.Apart))
		next := r.At
		for k := range r.States {
			s := &r.States[k]
			gapless = gapless && s.At == next
			next = s.At + s.Dur
			for _, p := range s.Parts {
				part, partMechanism, partDur = append(part, int64(len(sAt))), append(partMechanism, e.text(p.Mechanism)), append(partDur, p.Dur)
			}
			sAt, sDur, sNumber = append(sAt, s.At-r.At), append(sDur, s.Dur), append(sNumber, int64(s.Number))
			sKind, sMechanism = append(sKind, e.text(s.Kind)), append(sMechanism, e.text(s.Mechanism))
			sWhat, sWhere, sHolder = append(sWhat, e.text(s.What)), append(sWhere, e.text(s.Where)), append(sHolder, e.text(s.Holder))
		}
		first = append(first, int64(len(sAt)))
	}
	out := requests{
		At: integers(at), Latency: integers(latency), Lane: optional(lane), Source: optional(source), Origin: optional(origin),
		Route: optional(route), Outcome: optional(outcome), Slow: optional(slow), Apart: optional(apart), First: integers(first),
		States: states{
			Dur: integers(sDur), Number: optional(sNumber), Kind: optional(sKind), Mechanism: optional(sMechanism), What: optional(sWhat), Where: optional(sWhere),
			Holder: optional(sHolder), Part: optional(part), PartMechanism: optional(partMechanism), PartDur: optional(partDur),
		},
	}
	if len(part) > 0 { // all of the first state's: an index of zeros says something here
		out.States.Part = integers(part)
	}
	if !gapless {
		out.States.At = integers(sAt)
	}
	return out, nil
}

func yes(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

type processors struct {
	Source string   `json:"source"`
	At     int64    `json:"at"`
	Span   int64    `json:"span"`
	Apart  bool     `json:"apart"`
	Works  []string `json:"works"`
	Lanes  []lane   `json:"lanes"`
}

type lane struct {
	Name      string `json:"name"`
	At        column `json:"at"`
	Dur       column `json:"dur"`
	Work      column `json:"work,omitzero"`
	Request   column `json:"request,omitzero"`
	Text      column `json:"text,omitzero"`
	Share     column `json:"share,omitzero"`
	ShareWork column `json:"shareWork,omitzero"`
	SharePart column `json:"sharePart,omitzero"`
}

// works are the ids of the kinds of work, as in names of colours.
var works = [timeline.NumWorks]string{
	timeline.Idle: "idle", timeline.ForRequest: "request", timeline.Assist: "assist", timeline.Collector: "collector",
	timeline.Background: "background", timeline.Runtime: "runtime", timeline.Stopped: "stopped",
}

func (e *encoder) processors(p *timeline.Processors) (processors, error) {
	lanes, err := each(p.Lanes, func(l *timeline.Lane) (lane, error) {
		n := len(l.Spans)
		at, dur, work, request, text := make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n)
		var share, shareWork []int64
		var sharePart []float64
		for i := range l.Spans {
			s := &l.Spans[i]
			at[i], dur[i], work[i] = s.From-p.From, max(s.To-s.From, 0), int64(s.Work)
			request[i], text[i] = int64(s.Request), e.text(s.Name)
			for _, v := range whole(s) {
				share, shareWork, sharePart = append(share, int64(i)), append(shareWork, int64(v.Work)), append(sharePart, v.Part)
			}
		}
		out := lane{Name: l.Name, At: integers(at), Dur: integers(dur), Work: optional(work), Request: optional(request), Text: optional(text)}
		if len(share) > 0 {
			out.Share, out.ShareWork, out.SharePart = integers(share), integers(shareWork), figures(sharePart)
		}
		return out, nil
	})
	return processors{p.Source, p.From - e.t.From, max(p.To-p.From, 0), p.Apart, works[:], lanes}, err
}

// whole lists all a span was used for: its own work gets what the others leave,
// unless it is among them.
func whole(s *timeline.Span) []timeline.Share {
	rest := 1.0
	for _, v := range s.Shares {
		if v.Work == s.Work {
			return s.Shares
		}
		rest -= v.Part
	}
	if len(s.Shares) == 0 {
		return nil
	}
	return append([]timeline.Share{{Work: s.Work, Part: max(rest, 0)}}, s.Shares...)
}
