// Package dotnetlog reads lines of .NET programs' own logs that say that the runtime stopped or delayed them:
//
//	Garbage collection: Very long Execution Engine Suspension. Reason: GarbageCollection. Took: 15,727ms              KurrentDB
//	End of full blocking garbage collection at 06/06/2025 10:03:05. GC: #210548. Took: 15,727ms                       KurrentDB
//	As of "…", the heartbeat has been running for "00:00:01.3" which is longer than "00:00:01". This could be caused
//	by thread pool starvation.                                                                                        Kestrel, 5.0 on
//	Heartbeat took longer than "00:00:01" at "01/24/2018 14:22:35 +00:00".                                            Kestrel, up to 3.1
//	.NET Thread Pool is exhibiting delays of 13.3251887s. This can indicate .NET Thread Pool starvation, …             Orleans, 7 on
//	.NET Runtime Platform stalled for 00:00:13.1400000 - possibly GC? We are now using total of 812MB memory.         Orleans, 3 on
//	… ProbeTimer did not fire on time. Last fired at 2019-04-10 20:06:20.726 GMT, 00:01:17.7906305 since previous fire,
//	should have fired after 00:00:10.                                                                                  Orleans, 1 to 3
//	Queue wait time of 00:01:12.2204110 for Item WorkItemGroup:Name=…                                                  Orleans, 1
//
// Sources: src/KurrentDB.Core/Metrics of https://github.com/kurrent-io/KurrentDB (24.10 on), Heartbeat.cs of
// https://github.com/dotnet/aspnetcore, MembershipSystemTarget, Watchdog and SafeTimerBase of https://github.com/dotnet/orleans.
//
// The logs have only long delays. A heartbeat of Kestrel, and the work that Orleans queues to see how long it takes, is late if no pool thread ran it in time: the pool has too few threads, or the CPUs
// are busy.
package dotnetlog

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Format reads such a log.
var Format = format.Format{
	Name:  "dotnet-log",
	About: "lines of .NET programs about long suspensions, late heartbeats and timers (KurrentDB, Kestrel, Orleans)",
	Match: matchHead,
	Parse: parseArtifact,
}

const mostLine = 8 << 10

// kind is a line to read.
type kind struct {
	id, title string
	mark      []byte
	before    string // text before the duration, behind the mark
	full      bool   // a blocking collection of generation 2
	due       string // text before the part of the duration that was asked for, behind it
}

var kinds = []kind{
	{"full", "full collections that block", []byte("End of full blocking garbage collection at "), "Took: ", true, ""},
	{"suspension", "suspensions for GC", []byte("ong Execution Engine Suspension. Reason: GarbageCollection."), "Took: ", false, ""},
	{"heartbeat", "late heartbeats of Kestrel", []byte("the heartbeat has been running for \""), "", false, ""},
	{"heartbeat", "late heartbeats of Kestrel", []byte("eartbeat took longer than \""), "", false, ""}, // up to 3.1: the limit alone
	{"probe", "late probes of the thread pool", []byte(".NET Thread Pool is exhibiting delays of "), "", false, ""},
	{"stall", "times that the runtime stood still", []byte(".NET Runtime Platform stalled for "), "", false, ""},
	{"timer", "late timers of Orleans", []byte(" did not fire on time. Last fired at "), " GMT, ", false, "since previous fire, should have fired after "},
	{"queue", "waits of work in the queues of Orleans", []byte("Queue wait time of "), "", false, ""},
}

// lateWork names, by the kind of a line, the work that a thread of the pool did late.
var lateWork = map[string]string{"heartbeat": "Kestrel heartbeat", "probe": "Orleans probe", "timer": "Orleans timer"}

func hasMark(text []byte) bool {
	return slices.ContainsFunc(kinds, func(k kind) bool { return bytes.Contains(text, k.mark) })
}

// parseLine returns the kind of a line, nil for other lines, and the duration in ns.
func parseLine(l []byte) (k *kind, ns float64) {
	for i := range kinds {
		_, rest, ok := bytes.Cut(l, kinds[i].mark)
		if ok && kinds[i].before != "" {
			_, rest, ok = bytes.Cut(rest, []byte(kinds[i].before))
		}
		if !ok {
			continue
		}
		v := durationOf(string(rest[:min(len(rest), 40)]))
		if kinds[i].due != "" {
			_, due, told := bytes.Cut(rest, []byte(kinds[i].due))
			if !told {
				continue
			}
			v -= durationOf(string(due[:min(len(due), 40)]))
		}
		if v > 0 {
			return &kinds[i], v
		}
	}
	return nil, 0
}

// durationOf reads "15,727ms", "13.3251887s" and "00:00:13.1400000" in ns; 0 for other text.
func durationOf(s string) float64 {
	n := 0
	for n < len(s) && (s[n] >= '0' && s[n] <= '9' || s[n] == ',' || s[n] == '.' || s[n] == ':') {
		n++
	}
	digits := s[:n]
	if strings.HasPrefix(s[n:], "ms") {
		v, err := strconv.ParseFloat(strings.ReplaceAll(digits, ",", ""), 64)
		if err != nil || v < 0 || v > 1e9 {
			return 0
		}
		return v * 1e6
	}
	if strings.HasPrefix(s[n:], "s") && !strings.Contains(digits, ":") {
		v, err := strconv.ParseFloat(digits, 64)
		if err != nil || !(v >= 0 && v < 1e6) {
			return 0
		}
		return v * 1e9
	}
	part := strings.Split(digits, ":")
	if len(part) != 3 {
		return 0
	}
	total := 0.
	for i, unit := range []float64{3600e9, 60e9, 1e9} {
		v, err := strconv.ParseFloat(strings.TrimRight(part[i], ".,"), 64)
		if err != nil || v < 0 || v > 1e6 {
			return 0
		}
		total += v * unit
	}
	return total
}

func matchHead(head []byte) format.Confidence {
	if !hasMark(head) {
		return format.No
	}
	for l := range bytes.Lines(head) {
		if len(l) <= mostLine && hasMark(l) {
			if k, _ := parseLine(l); k != nil {
				return format.Sure
			}
		}
	}
	return format.No
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	type seen struct {
		n    int64
		most float64
		line int64
	}
	all := make(map[string]*seen)
	err := a.Lines(func(l format.Line) bool {
		if l.Number&0xfff == 0 && ctx.Err() != nil {
			return false
		}
		if len(l.Text) > mostLine || !hasMark(l.Text) {
			return true
		}
		k, ns := parseLine(l.Text)
		if k == nil {
			return true
		}
		x := all[k.id]
		if x == nil {
			x = &seen{}
			all[k.id] = x
		}
		x.n++
		if ns > x.most {
			x.most, x.line = ns, l.Number
		}
		return true
	})
	if err := format.EndReading(ctx, b, err, len(all) > 0, "the log", "dotnetlog: no line about a suspension or a heartbeat in it"); err != nil {
		return err
	}
	*b.Clock() = evidence.Clock{Name: "lines of a log", Error: evidence.Unanchored}
	subject := b.Subject(evidence.Subject{Kind: evidence.Process, Runtime: "dotnet"})
	t := evidence.Table{Title: "what the program says of its runtime", Columns: []string{"", "times", "longest s"}}
	for i := range kinds {
		k := &kinds[i]
		x := all[k.id]
		if x == nil {
			continue
		}
		if i > 0 && kinds[i-1].id == k.id { // another wording of it
			continue
		}
		t.Rows = append(t.Rows, []string{k.title, strconv.FormatInt(x.n, 10), strconv.FormatFloat(x.most/1e9, 'g', 4, 64)})
		fact := func(key string, v float64) {
			b.FactAt(subject, key, strconv.FormatFloat(v, 'g', 6, 64), v, x.line)
		}
		switch {
		case k.full:
			fact(evidence.FactGen2Most, x.most)
			fact(evidence.FactGen2Count, float64(x.n))
		case lateWork[k.id] != "":
			b.FactAt(subject, evidence.FactHeartbeatsLate, lateWork[k.id], float64(x.n), x.line)
			fact(evidence.FactHeartbeatMost, x.most)
		case k.id == "queue":
			b.Warnf(x.line, "work waited for a thread of Orleans for up to %.4g s: all of them were busy, or blocked", x.most/1e9)
		case k.id == "suspension":
			if all["full"] == nil {
				b.Warnf(x.line, "the program was suspended for GC for up to %.4g s: which generation it was does not stand there: dotnet-counters collect -p PID shows it", x.most/1e9)
			}
		default:
			b.Warnf(x.line, "the runtime stood still for up to %.4g s, for GC or because the host did not run it: dotnet-counters collect -p PID shows collections", x.most/1e9)
		}
	}
	b.Table(t)
	return nil
}
