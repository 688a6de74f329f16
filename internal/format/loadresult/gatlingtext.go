package loadresult

import (
	"strconv"
	"strings"
)

// Gatling prints at the end of its run, on the console and with its reports, in ms from the send
// (gatling-charts, GlobalStats and ConsoleTemplate of https://github.com/gatling/gatling, 2.0 to 3.13):
//
//	---- Global Information --------------------------------------------------------
//	> request count                                      14924 (OK=9924   KO=5000  )
//	> mean response time                                   116 (OK=138    KO=71    )
//	> response time 95th percentile                        150 (OK=154    KO=76    )
//	> mean requests/sec                                 99.490 (OK=66.151 KO=33.339)
//
//	> request count              |    14,924 |     9,924 |     5,000      since 3.13
//
// A mail that quotes the text loses the signs before the lines.

func newGatlingText() *run {
	r := &run{}
	r.Tool = "Gatling"
	r.FromSend = true
	return r
}

func gatlingTextStarts(line string, _ *run) bool {
	return strings.HasPrefix(strings.TrimLeft(line, "> "), "---- Global Information ---")
}

func gatlingText(r *run, line string) bool {
	text := strings.TrimLeft(line, "> ")
	switch {
	case strings.HasPrefix(text, "----"):
		r.section = strings.Trim(text, "- ")
		if r.section != "Global Information" {
			r.ended = true
		}
		return true
	case r.section != "Global Information":
		return true
	}
	name, all, failed, ok := gatlingRow(text)
	if !ok {
		return true
	}
	ms := func(v float64) int64 { n, _ := roundNanoseconds(v * 1e6); return n }
	switch {
	case name == "request count":
		r.Completed, r.Sent = int64(all), int64(all)
		r.Errors, r.counted = int64(failed), true
	case strings.HasPrefix(name, "max response time"):
		r.Max = ms(all)
	case strings.HasPrefix(name, "mean response time"):
		r.Mean = ms(all)
	case strings.HasPrefix(name, "std deviation"), strings.HasPrefix(name, "response time std deviation"):
		r.Stdev = ms(all)
	case strings.HasPrefix(name, "response time "):
		digits, rest, _ := strings.Cut(name[len("response time "):], "th percentile")
		if ordinal, is := strings.CutSuffix(digits, " percentile"); is { // "95st percentile"
			digits, rest = strings.TrimRight(ordinal, "stndrh"), ""
		}
		if q, err := strconv.ParseFloat(digits, 64); err == nil && !strings.HasPrefix(rest, "s") {
			r.addQuantile(q/100, ms(all))
		}
	case strings.HasPrefix(name, "mean requests/sec"), strings.HasPrefix(name, "mean throughput"):
		r.Rate = all
	}
	return true
}

// gatlingRow reads a line's name, and its figures for all requests and for failed ones.
func gatlingRow(text string) (name string, all, failed float64, ok bool) {
	figure := func(s string) (float64, bool) {
		v, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimSpace(s), ",", ""), 64)
		return v, err == nil && v >= 0 && v < 1e15
	}
	if f := strings.Split(text, "|"); len(f) >= 4 {
		all, ok = figure(f[1])
		failed, _ = figure(f[3])
		return strings.TrimSpace(f[0]), all, failed, ok
	}
	before, after, found := strings.Cut(text, "(OK=")
	f := strings.Fields(before)
	if !found || len(f) < 2 {
		return "", 0, 0, false
	}
	all, ok = figure(f[len(f)-1])
	_, ko, _ := strings.Cut(after, "KO=")
	ko, _, _ = strings.Cut(ko, ")")
	failed, _ = figure(ko)
	return strings.Join(f[:len(f)-1], " "), all, failed, ok
}

func gatlingTextWhole(r *run) bool { return r.ended || r.Rate > 0 }
