package text

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/operate/fleet"
)

// How many rows the tables have; JSON has more.
const (
	mostCauses  = 10
	mostRanked  = 10
	mostChanges = 8
	mostName    = 20 // characters of a name beside another
)

// Fleet renders what many hosts lost: by cause first, then by service and host, then the hosts
// that differ from their peers.
func (o Options) Fleet(w io.Writer, r *fleet.Report) error {
	if o.Width == 0 {
		o.Width = 80
	}
	p := &page{Options: o}
	p.fleetHeader(r)
	p.writeBlank()
	for _, l := range p.wrapText(fleetHeadline(r), 0) {
		p.writeLine(p.applyStyle(bold, l))
	}
	p.writeBlank()
	p.fleetCauses(r)
	p.fleetServices(r)
	p.writeOutliers(r.Unlike)
	p.fleetVersions(r.Versions)
	p.fleetChanges(r.Changes)
	p.slowestHosts(r)
	var lines []string
	for _, warning := range r.Warnings {
		lines = append(lines, p.wrapText(warning, labels)...)
	}
	p.writeBlock("WARNINGS", bold, labels, lines)
	_, err := io.WriteString(w, strings.TrimRight(p.out.String(), "\n")+"\n")
	return err
}

func (p *page) fleetHeader(r *fleet.Report) {
	left := p.cleanText("fleet  " + units.Plural(r.Hosts, "host") + " · " + units.Plural(len(r.Services), "service"))
	end := r.Window.End.Format(time.TimeOnly)
	if r.Window.End.YearDay() != r.Window.Start.YearDay() {
		end = r.Window.End.Format(time.DateTime)
	}
	right := p.cleanText(r.Window.Start.Format(time.DateTime) + "–" + end + " UTC")
	if textWidth(left)+2+textWidth(right) > p.Width {
		p.writeLine(p.applyStyle(bold, left))
		left = ""
	}
	p.writeLine(p.applyStyle(bold, left) + strings.Repeat(" ", max(0, p.Width-textWidth(left)-textWidth(right))) + right)
	p.writeLine(p.cleanText("from " + r.Store))
}

// fleetHeadline returns the report in one sentence.
func fleetHeadline(r *fleet.Report) string {
	if r.SlowS == 0 {
		text := "Healthy: no request was slow"
		if r.Requests != nil {
			text = fmt.Sprintf("Healthy: none of %s was slow", units.Plural(*r.Requests, "request"))
		}
		return text + " in this time."
	}
	text := fmt.Sprintf("Slow requests took %s", formatSeconds(r.SlowS))
	if len(r.Services) > 1 {
		text += fmt.Sprintf(", %s of that in %s", formatPercent(r.Services[0].SlowS/r.SlowS), nameOrNone(r.Services[0].Service))
	}
	if len(r.Causes) > 0 {
		c := r.Causes[0]
		text += fmt.Sprintf("; %s accounts for %s of it, on %s", c.Cause, formatPercent(min(1, c.SlowS/r.SlowS)), units.Plural(c.Hosts, "host"))
	} else {
		text += "; no cause was found"
	}
	return text + "."
}

func (p *page) fleetCauses(r *fleet.Report) {
	if len(r.Causes) == 0 {
		return
	}
	rows := [][]string{{"CAUSES (they overlap)", "slow time", "share", "hosts", "services"}}
	for _, c := range r.Causes[:min(len(r.Causes), mostCauses)] {
		rows = append(rows, []string{c.Cause, formatSeconds(c.SlowS), formatPercent(min(1, c.SlowS/r.SlowS)), units.Count(c.Hosts), units.Count(len(c.Services))})
	}
	p.writeColumns(rows, 0, p.Width)
	p.writeRest(len(r.Causes)-mostCauses, "cause")
	p.writeBlank()
}

func (p *page) fleetServices(r *fleet.Report) {
	rows := [][]string{{"SERVICES", "slow time", "share", "per 1,000 requests", "hosts", "cause"}}
	for _, s := range r.Services[:min(len(r.Services), mostRanked)] {
		per := units.Unknown
		if s.Rate != nil {
			per = formatSeconds(*s.Rate)
		}
		rows = append(rows, []string{nameOrNone(s.Service), formatSeconds(s.SlowS), formatShare(ratioOrNil(s.SlowS, r.SlowS)), per, units.Count(s.Hosts), s.Cause})
	}
	p.writeColumns(rows, 0, p.Width)
	p.writeRest(len(r.Services)-mostRanked, "service")
	p.writeBlank()
}

func (p *page) writeRest(n int, one string) {
	if n > 0 {
		p.writeLine(p.cleanText(fmt.Sprintf("and %s more: --format json", units.Plural(n, one))))
	}
}

// writeOutliers writes in what each unlike host differs from its peers.
func (p *page) writeOutliers(all []fleet.Unlike) {
	var lines []string
	for _, u := range all[:min(len(all), mostRanked)] {
		text := fmt.Sprintf("%s: %s has %s of slow time per 1,000 requests; the median of %s is %s", u.Host, nameOrNone(u.Service), formatSeconds(u.Rate), units.Plural(u.Of, "host"), formatSeconds(u.Peers))
		if u.Per != "s_per_1000_requests" {
			text = fmt.Sprintf("%s: %s has %s of slow time per hour; the median of %s is %s", u.Host, nameOrNone(u.Service), formatSeconds(u.Rate), units.Plural(u.Of, "host"), formatSeconds(u.Peers))
		}
		if u.Title != "" {
			text += fmt.Sprintf("; %s of it is %s", formatPercent(u.Share), u.Title)
		}
		lines = append(lines, p.wrapText(text, labels)...)
	}
	if len(lines) > 0 {
		p.writeBlock("UNLIKE", alarm, labels, lines)
		p.writeRest(len(all)-mostRanked, "host")
		p.writeBlank()
	}
}

func (p *page) fleetVersions(all []fleet.Version) {
	var lines []string
	for _, v := range all[:min(len(all), mostChanges)] {
		text := fmt.Sprintf("%s %s (after %s): ", nameOrNone(v.Service), v.Version, v.Before)
		switch {
		case v.Factor == nil:
			text += "unclear: too few requests with both versions on one host or at one moment"
		case v.Low == nil:
			text += fmt.Sprintf("unclear: %s × the slow time per request, from only %s", units.Num(*v.Factor), formatPairs(v))
		default:
			text += fmt.Sprintf("%s: %s × the slow time per request (%s–%s, 95 %% interval), from %s", v.Result, units.Num(*v.Factor), units.Num(*v.Low), formatHigh(v.High), formatPairs(v))
		}
		lines = append(lines, p.wrapText(text, labels)...)
	}
	if len(lines) > 0 {
		p.writeBlock("VERSIONS", bold, labels, lines)
		p.writeRest(len(all)-mostChanges, "version")
		p.writeBlank()
	}
}

// formatHigh returns the high end of an interval, "∞" if it has none.
func formatHigh(high *float64) string {
	if high == nil {
		return "∞"
	}
	return units.Num(*high)
}

func formatPairs(v fleet.Version) string {
	if v.Of == "moments" {
		return fmt.Sprintf("%s at which both ran", units.Plural(v.Pairs, "moment"))
	}
	return fmt.Sprintf("%s that ran both", units.Plural(v.Pairs, "host"))
}

func (p *page) fleetChanges(all []fleet.Change) {
	var lines []string
	for _, c := range all[:min(len(all), mostChanges)] {
		per := "per hour"
		if c.Per == "s_per_1000_requests" {
			per = "per 1,000 requests"
		}
		text := fmt.Sprintf("%s  %s: %s → %s of slow time %s", c.At.Format("01-02 15:04"), nameOrNone(c.Service), formatSeconds(c.Before), formatSeconds(c.After), per)
		if c.Version != "" {
			text += ", when " + c.Version + " was deployed"
		}
		lines = append(lines, p.wrapText(text, labels)...)
	}
	if len(lines) > 0 {
		p.writeBlock("CHANGED", bold, labels, lines)
		p.writeRest(len(all)-mostChanges, "change")
		p.writeBlank()
	}
}

func (p *page) slowestHosts(r *fleet.Report) {
	if len(r.Slowest) == 0 {
		return
	}
	rows := [][]string{{"HOSTS", "slow time", "share", "service", "cause"}}
	for _, h := range r.Slowest[:min(len(r.Slowest), mostRanked)] {
		rows = append(rows, []string{nameOrNone(h.Host), formatSeconds(h.SlowS), formatShare(ratioOrNil(h.SlowS, r.SlowS)), p.cutText(p.cleanText(nameOrNone(h.Service)), mostName), h.Cause})
	}
	p.writeColumns(rows, 0, p.Width)
	p.writeBlank()
}

// nameOrNone returns a name, or that there is none.
func nameOrNone(name string) string {
	if name == "" {
		return "(no name)"
	}
	return name
}

func formatSeconds(s float64) string { return units.Time(s * 1e9) }

func ratioOrNil(of, whole float64) *float64 {
	if !(whole > 0) {
		return nil
	}
	v := of / whole
	return &v
}

func formatPercent(v float64) string { return formatShare(&v) }
