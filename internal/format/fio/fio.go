// Package fio reads how long syncs, reads and writes took in the output of fio, the test of disks that etcd and databases ask for:
//
//	write: IOPS=38, BW=86.9KiB/s (89.0kB/s)(21.0MiB/259254msec)
//	fsync/fdatasync/sync_file_range:
//	  sync (msec): min=4, max=391, avg=25.81, stdev=18.07
//	  sync percentiles (msec):
//	   | 50.00th=[   23], 99.00th=[   99],
//
// https://fio.readthedocs.io/en/latest/fio_doc.html#interpreting-the-output, fio 2 to 3.39: those before 3.1 print no syncs. Its opinion: a test keeps as many reads and writes
// waiting as it was told to (iodepth, numjobs), so that their times say what the disk can do and not that anything else waits: they are shown. Syncs follow each other.
package fio

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Format reads such output.
var Format = format.Format{
	Name:  "fio",
	About: "how long syncs, reads and writes took in a test of a disk by fio",
	Match: func(head []byte) format.Confidence {
		if bytes.Contains(head, syncs) || bytes.Contains(head, percentiles) || bytes.Contains(head, completions) {
			for l := range bytes.Lines(head) {
				_, _, ok := unitOf(l, syncs)
				_, rest, ok2 := unitOf(l, completions)
				if ok || ok2 && strings.Contains(rest, "avg=") {
					return format.Sure
				}
			}
		}
		return format.No
	},
	Parse: parseArtifact,
}

var (
	syncs       = []byte("sync (")
	percentiles = []byte("sync percentiles (")
	completions = []byte("clat (")
	ofThese     = []byte("clat percentiles (")
)

const mostLine = 4096

// unitOf reads "    sync (msec): …": the unit in ns, and what follows.
func unitOf(l, words []byte) (unit float64, rest string, ok bool) {
	text, found := bytes.CutPrefix(bytes.TrimSpace(l[:min(len(l), mostLine)]), words)
	name, rest2, ok := strings.Cut(string(text), "):")
	unit = map[string]float64{"nsec": 1, "usec": 1e3, "msec": 1e6, "sec": 1e9}[name]
	return unit, rest2, found && ok && unit > 0
}

// numberAfter reads the number behind words; ok is false without.
func numberAfter(text, words string) (v float64, ok bool) {
	_, rest, ok := strings.Cut(text, words)
	rest = strings.TrimLeft(rest, " ")
	n := 0
	for n < len(rest) && n < 20 && (rest[n] >= '0' && rest[n] <= '9' || rest[n] == '.') {
		n++
	}
	v, err := strconv.ParseFloat(rest[:n], 64)
	if err == nil && strings.HasPrefix(rest[n:], "k") {
		v *= 1e3
	}
	return v, ok && err == nil && v >= 0 && v < 1e15
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	var mean, most, median, high, n, unit float64 // ns
	line, within, found := int64(0), false, false
	var of *direction
	var all []*direction
	err := a.Lines(func(l format.Line) bool {
		text := string(l.Text[:min(len(l.Text), mostLine)])
		if u, rest, ok := unitOf(l.Text, syncs); ok {
			if v, ok := numberAfter(rest, "avg="); ok {
				mean, line, found = v*u, l.Number, true
			}
			if v, ok := numberAfter(rest, "max="); ok {
				most = v * u
			}
			return true
		}
		if u, _, ok := unitOf(l.Text, percentiles); ok {
			unit, within = u, true
			return true
		}
		if u, rest, ok := unitOf(l.Text, completions); ok && of != nil {
			if v, ok := numberAfter(rest, "avg="); ok {
				of.mean, found = v*u, true
			}
			if v, ok := numberAfter(rest, "max="); ok {
				of.most = v * u
			}
			return true
		}
		if u, _, ok := unitOf(l.Text, ofThese); ok && of != nil {
			of.unit = u
			return true
		}
		trimmed := strings.TrimSpace(text)
		if d := directionOf(trimmed); d != nil && len(all) < mostDirections {
			of, all = d, append(all, d)
		}
		if strings.HasPrefix(trimmed, "|") && !within && of != nil && of.unit > 0 {
			if v, ok := numberAfter(trimmed, "50.00th=["); ok {
				of.median = v * of.unit
			}
			if v, ok := numberAfter(trimmed, "99.00th=["); ok {
				of.high = v * of.unit
			}
			return true
		}
		switch {
		case within && strings.HasPrefix(trimmed, "|"):
			if v, ok := numberAfter(trimmed, " 50.00th=["); ok {
				median = v * unit
			}
			if v, ok := numberAfter(trimmed, " 99.00th=["); ok {
				high = v * unit
			}
			return true
		case strings.HasPrefix(trimmed, "write: IOPS="):
			rate, _ := numberAfter(trimmed, "IOPS=")
			if i := strings.LastIndexByte(trimmed, '/'); i > 0 {
				if ms, ok := numberAfter(trimmed[i:], "/"); ok && strings.HasSuffix(trimmed, "msec)") {
					n = rate * ms / 1e3
				}
			}
		}
		within = false
		return l.Number&0xfff != 0 || ctx.Err() == nil
	})
	if err := format.EndReading(ctx, b, err, found, "the output", "fio: no sync, read or write in it: fio --fdatasync=1 tells how long syncs take"); err != nil {
		return err
	}
	*b.Clock() = evidence.Clock{Name: "one test", Error: evidence.Unanchored}
	subject := b.Subject(evidence.Subject{Kind: evidence.Process, Name: "fio"})
	fact := func(key string, v float64) {
		if v > 0 {
			b.FactAt(subject, key, "", v, line)
		}
	}
	fact(evidence.FactSyncMedian, median)
	fact(evidence.FactSyncs, n)
	fact(evidence.FactSyncMost, most)
	t := evidence.Table{Title: "syncs of the test", Columns: []string{"", "ms"}}
	for _, x := range []struct {
		name string
		ns   float64
	}{{"mean", mean}, {"median", median}, {"p99", high}, {"longest", most}} {
		if x.ns > 0 {
			t.Rows = append(t.Rows, []string{x.name, fmt.Sprintf("%.4g", x.ns/1e6)})
		}
	}
	if len(t.Rows) > 0 {
		b.Table(t)
	}
	emitDirections(b, all)
	return nil
}

// mostDirections bounds the reads and writes of jobs that are kept.
const mostDirections = 200

// direction is the reads or the writes of a job; times are ns, 0 unknown.
type direction struct {
	name                                 string
	rate, mean, most, median, high, unit float64
}

// directionOf reads "write: IOPS=38, BW=…" of fio 3, and "read : io=451212KB, bw=1880.5KB/s, iops=470, runt=…" before; nil of other lines.
func directionOf(text string) *direction {
	name, rest, ok := strings.Cut(text, ":")
	name = strings.TrimSpace(name)
	if !ok || name != "read" && name != "write" && name != "trim" {
		return nil
	}
	d := &direction{name: name + "s"}
	if d.rate, ok = numberAfter(rest, "IOPS="); !ok {
		if d.rate, ok = numberAfter(rest, "iops="); !ok {
			return nil
		}
	}
	return d
}

func emitDirections(b *evidence.Builder, all []*direction) {
	t := evidence.Table{Title: "reads and writes of the test, whose queue is its own", Columns: []string{"", "per second", "mean ms", "p50 ms", "p99 ms", "longest ms"}}
	for i, d := range all {
		row := []string{fmt.Sprintf("%s of job %d", d.name, i+1), fmt.Sprintf("%.4g", d.rate)}
		for _, ns := range []float64{d.mean, d.median, d.high, d.most} {
			if ns > 0 {
				row = append(row, fmt.Sprintf("%.4g", ns/1e6))
			} else {
				row = append(row, "")
			}
		}
		if d.mean > 0 {
			t.Rows = append(t.Rows, row)
		}
	}
	if len(t.Rows) > 0 {
		b.Table(t)
	}
}
