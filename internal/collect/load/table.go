package load

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/base/units"
)

// Table writes a result for people.
func (r *Result) Table(w io.Writer) error {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	head := fmt.Sprintf("%s  %s loop", r.URL, r.Mode)
	if r.OfferedRate != nil {
		head += " · " + units.Num(*r.OfferedRate) + "/s " + r.Arrivals
	} else {
		head += " · " + units.Plural(r.Connections, "connection")
	}
	if r.HTTP == "2" {
		head += " · HTTP/2"
		if r.OfferedRate == nil {
			head += fmt.Sprintf(", %s at a time on each", units.Plural(r.Streams, "request"))
		}
	}
	line("%s · %s\n", head, units.Time(r.Duration*1e9))
	line("%-12s %12s %12s %12s", "Statistics", "Avg", "Stdev", "Max")
	line("  %-10s %12s %12s %12s", "Reqs/sec", units.Num(r.Rate.Mean), formatNumber(r.Rate.Stdev), formatNumber(r.Rate.Max))
	l := &r.Latency
	line("  %-10s %12s %12s %12s", "Latency", formatDuration(l.Mean), formatDuration(l.Stdev), formatDuration(l.Max))
	from := "the scheduled send time"
	if r.LatencyFrom == "send" {
		from = "the actual send time"
	}
	line("Latency distribution, measured from %s", from)
	for _, q := range []struct {
		name string
		v    *float64
	}{{"50", l.P50}, {"75", l.P75}, {"90", l.P90}, {"95", l.P95}, {"99", l.P99}, {"99.9", l.P999}, {"99.99", l.P9999}} {
		if q.v != nil {
			line("  %5s%% %12s", q.name, formatDuration(q.v))
		}
	}
	c := &r.Codes
	line("HTTP codes")
	line("  1xx %s · 2xx %s · 3xx %s · 4xx %s · 5xx %s · others %s", units.Count(c.Informational), units.Count(c.Success),
		units.Count(c.Redirection), units.Count(c.ClientError), units.Count(c.ServerError), units.Count(c.Other))
	if len(r.ErrorKinds) > 0 {
		line("Errors")
		for _, e := range r.ErrorKinds {
			line("  %s × %s", units.Count(e.Count), e.Text)
		}
	}
	line("Requests")
	line("  %s offered · %s sent · %s answered · %s unfinished, of them %s timed out", units.Count(r.Offered), units.Count(r.Sent),
		units.Count(r.Completed), units.Count(r.Unfinished), units.Count(r.Timeouts))
	line("Throughput   %s/s received", units.Size(r.BytesPerS))
	if r.Achieved != nil {
		line("Achieved     %s %% of the offered rate · send lag p99 %s, max %s", units.Num(*r.Achieved*100), formatDuration(r.SendLag.P99), formatDuration(r.SendLag.Max))
	}
	r.writeJourneys(line)
	for _, text := range r.Warnings {
		line("warning: %s", text)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func formatNumber(v *float64) string {
	if v == nil {
		return units.Unknown
	}
	return units.Num(*v)
}

// formatDuration formats a time in ms.
func formatDuration(ms *float64) string {
	if ms == nil {
		return units.Unknown
	}
	return units.Ms(*ms)
}

// Line is the snapshot in one line.
func (s Snapshot) Line() string {
	at := s.Elapsed.Round(time.Second).String()
	switch {
	case s.Of > 0 && s.Elapsed > s.Of+time.Second:
		at += ", waiting for the last answers"
	case s.Of > 0:
		at += " of " + s.Of.Round(time.Second).String()
	}
	text := fmt.Sprintf("%s · %s answered/s", at, units.Num(s.Rate))
	if s.P50 > 0 {
		text += fmt.Sprintf(" · p50 %s p99 %s", units.Time(float64(s.P50)), units.Time(float64(s.P99)))
	}
	if s.Users > 0 {
		text += fmt.Sprintf(" · %s", units.Plural(s.Users, "user"))
	}
	text += fmt.Sprintf(" · %s under way", units.Count(s.UnderWay))
	if s.Waiting > 0 {
		text += fmt.Sprintf(" (%s waiting for a connection)", units.Count(s.Waiting))
	}
	if s.Failed > 0 {
		text += fmt.Sprintf(" · %s failed", units.Count(s.Failed))
	}
	return text
}
