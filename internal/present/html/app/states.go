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

// encodeRequests puts the states of all requests into columns: there may be many short ones.
func (e *encoder) encodeRequests(in []timeline.Request) (requests, error) {
	var at, latency, lane, source, origin, route, outcome []int64
	var slow, apart, sNumber []int64
	var sAt, sDur, sKind, sMechanism, sWhat, sWhere, sHolder, part, partMechanism, partDur []int64
	first, gapless := []int64{0}, true
	for i := range in {
		r := &in[i]
		at, latency, lane = append(at, r.At-e.t.From), append(latency, r.Latency), append(lane, r.Lane)
		source, origin = append(source, e.internString(r.Source)), append(origin, e.internString(r.Origin))
		route, outcome = append(route, e.internString(r.Route)), append(outcome, e.internString(r.Outcome))
		slow, apart = append(slow, boolToInt(r.Slow)), append(apart, boolToInt(r.Apart))
		next := r.At
		for k := range r.States {
			s := &r.States[k]
			gapless = gapless && s.At == next
			next = s.At + s.Dur
			for _, p := range s.Parts {
				part, partMechanism, partDur = append(part, int64(len(sAt))), append(partMechanism, e.internString(p.Mechanism)), append(partDur, p.Dur)
			}
			sAt, sDur, sNumber = append(sAt, s.At-r.At), append(sDur, s.Dur), append(sNumber, int64(s.Number))
			sKind, sMechanism = append(sKind, e.internString(s.Kind)), append(sMechanism, e.internString(s.Mechanism))
			sWhat, sWhere, sHolder = append(sWhat, e.internString(s.What)), append(sWhere, e.internString(s.Where)), append(sHolder, e.internString(s.Holder))
		}
		first = append(first, int64(len(sAt)))
	}
	out := requests{
		At: newIntegerColumn(at), Latency: newIntegerColumn(latency), Lane: newOptionalColumn(lane), Source: newOptionalColumn(source), Origin: newOptionalColumn(origin),
		Route: newOptionalColumn(route), Outcome: newOptionalColumn(outcome), Slow: newOptionalColumn(slow), Apart: newOptionalColumn(apart), First: newIntegerColumn(first),
		States: states{
			Dur: newPackedColumn(sDur), Number: newOptionalColumn(sNumber), Kind: newOptionalColumn(sKind), Mechanism: newOptionalColumn(sMechanism), What: newOptionalColumn(sWhat), Where: newOptionalColumn(sWhere),
			Holder: newOptionalColumn(sHolder), Part: newOptionalColumn(part), PartMechanism: newOptionalColumn(partMechanism), PartDur: newOptionalColumn(partDur),
		},
	}
	if len(part) > 0 { // zeros are kept: they refer to the first state
		out.States.Part = newIntegerColumn(part)
	}
	if !gapless {
		out.States.At = newIntegerColumn(sAt)
	}
	return out, nil
}

func boolToInt(b bool) int64 {
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

// lane has the gaps between the end of each span and the next one; where spans overlap, it has their beginnings.
type lane struct {
	Name      string `json:"name"`
	Gap       column `json:"gap,omitzero"`
	At        column `json:"at,omitzero"`
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

func (e *encoder) encodeProcessors(p *timeline.Processors) (processors, error) {
	lanes, err := encodeEach(p.Lanes, func(l *timeline.Lane) (lane, error) {
		n := len(l.Spans)
		at, gap, dur, work, request, text := make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n)
		ended, ordered := int64(0), true
		var share, shareWork []int64
		var sharePart []float64
		for i := range l.Spans {
			s := &l.Spans[i]
			at[i], dur[i], work[i] = s.From-p.From, max(s.To-s.From, 0), int64(s.Work)
			gap[i], ordered = at[i]-ended, ordered && at[i] >= ended
			ended = at[i] + dur[i]
			request[i], text[i] = int64(s.Request), e.internString(s.Name)
			for _, v := range allShares(s) {
				share, shareWork, sharePart = append(share, int64(i)), append(shareWork, int64(v.Work)), append(sharePart, v.Part)
			}
		}
		out := lane{Name: l.Name, Gap: newPackedColumn(gap), Dur: newPackedColumn(dur), Work: newOptionalColumn(work), Request: newOptionalColumn(request), Text: newOptionalColumn(text)}
		if !ordered {
			out.Gap, out.At = column{}, newIntegerColumn(at)
		}
		if len(share) > 0 {
			out.Share, out.ShareWork, out.SharePart = newIntegerColumn(share), newIntegerColumn(shareWork), newFloatColumn(sharePart)
		}
		return out, nil
	})
	return processors{p.Source, p.From - e.t.From, max(p.To-p.From, 0), p.Apart, works[:], lanes}, err
}

// allShares returns the shares of all kinds of work in a span. The span's own work gets the rest,
// unless it has a share of its own.
func allShares(s *timeline.Span) []timeline.Share {
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
