package bpfhistogram

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Tools of bcc that print what took longer than a threshold, or each event, have one column of latencies (runqslower, softirqslower, ext4slower, biosnoop,
// tcpconnlat, …):
//
//	TIME     STAGE                SOFTIRQ  LAT(us)        CPU    COMM
//	14:44:09 irq(hard) to softirq rcu      16             5      swapper/5
//
// Other columns may have blanks within, so that a latency is found by where it stands. What was quicker than the threshold is not shown, so that there is no
// share and no verdict: the number of events and the longest are shown. biosnoop and biotop show every request of a disk, biosnoop also without its heading, which a filter takes
// away: their mean is a fact.
//
//	TIME(s)     COMM           PID     DISK      T SECTOR     BYTES  LAT(ms)                 biosnoop, with or without QUE(ms) and a pattern
//	COMM             PID     LATms   FD RVAL FILE                                            fsyncsnoop and iosnoop of perf-tools
//	PID    COMM             D MAJ MIN DISK       I/O  Kbytes  AVGms                          biotop: a row for what a process reads or writes of a disk in an interval

// latencyUnits are the headings of the column, with their unit in ms.
var latencyUnits = []struct {
	word string
	ms   float64
}{{"LAT(us)", 1e-3}, {"LAT(ms)", 1}, {"LATms", 1}, {averages, 1}}

// averages is the heading of biotop's column.
const averages = "AVGms"

// mostTables bounds the listings that are kept.
const mostTables = 100

// listing is the events below one heading.
type listing struct {
	from, to int // columns of the heading's word
	unit     float64
	n        int
	longest  float64 // ms
	sum      float64
	odd      int  // lines that are no event
	disk     bool // its events are all requests of disks
	top      bool // its rows are means
	bare     bool // it has no heading
	name     string
	line     int64
}

// latencyColumn finds the column of latencies of a heading; false for other lines.
func latencyColumn(text []byte) (l listing, ok bool) {
	if !bytes.Contains(text, []byte(" COMM")) && !bytes.HasPrefix(text, []byte("COMM")) || len(bytes.Fields(text)) < 4 {
		return l, false
	}
	for _, u := range latencyUnits {
		if at := bytes.Index(text, []byte(u.word)); at >= 0 {
			top := u.word == averages && bytes.Contains(text, []byte(" I/O "))
			return listing{from: at, to: at + len(u.word), unit: u.ms, top: top, disk: top || bytes.Contains(text, []byte(" DISK ")) && bytes.Contains(text, []byte(" SECTOR "))}, u.word != averages || top
		}
	}
	return l, false
}

// bareEvent reads a request of a disk as biosnoop prints it, whose heading is gone: a time, a command, a PID, a disk, R or W, a sector, bytes and a latency.
func bareEvent(text string) (ms float64, disk string, ok bool) {
	f := strings.Fields(text)
	if len(f) != 8 || f[4] != "R" && f[4] != "W" || !strings.Contains(f[0], ".") || !strings.Contains(f[7], ".") || strings.Trim(f[2]+f[5]+f[6], "0123456789") != "" {
		return 0, "", false
	}
	_, err := strconv.ParseFloat(f[0], 64)
	ms, err2 := strconv.ParseFloat(f[7], 64)
	return ms, f[3], err == nil && err2 == nil && ms >= 0 && ms < 1e9
}

// readMean takes a row of biotop: how many requests, and what they took in the mean.
func (l *listing) readMean(text string) {
	f := strings.Fields(text)
	if len(f) != 9 || f[2] != "R" && f[2] != "W" {
		return // the time above its next table
	}
	n, err := strconv.ParseUint(f[6], 10, 31)
	mean, err2 := strconv.ParseFloat(f[8], 64)
	if err != nil || err2 != nil || !(mean >= 0 && mean < 1e9) || n == 0 {
		l.odd++
		return
	}
	l.n += int(n)
	l.sum += float64(n) * mean
	l.longest = max(l.longest, mean)
	l.name = f[5]
}

// readEvent takes the latency of a line.
func (l *listing) readEvent(text string) {
	if l.top {
		l.readMean(text)
		return
	}
	if l.disk {
		if f := strings.Fields(text); len(f) > 3 && l.name == "" {
			l.name = f[3]
		}
	}
	if l.from >= len(text) {
		l.odd++
		return
	}
	from, to := l.from, min(l.to, len(text))
	for from < to && text[from] == ' ' {
		from++
	}
	if from == to {
		l.odd++
		return
	}
	for from > 0 && text[from-1] != ' ' {
		from--
	}
	word, _, _ := strings.Cut(text[from:], " ")
	v, err := strconv.ParseFloat(word, 64)
	if err != nil || !(v >= 0 && v < 1e12) {
		l.odd++
		return
	}
	l.n++
	l.sum += v * l.unit
	l.longest = max(l.longest, v*l.unit)
}

// listings are those of one artifact.
type listings struct {
	all  []listing
	open bool
}

// readLine takes a line of a listing; false before the first heading.
func (x *listings) readLine(text []byte, line int64) bool {
	if l, ok := latencyColumn(text); ok && len(x.all) < mostTables {
		l.line = line
		if n := len(x.all); !l.top || n == 0 || !x.all[n-1].top { // biotop repeats its heading
			x.all = append(x.all, l)
		}
		x.open = true
		return true
	}
	if !x.open && (bytes.Contains(text, []byte(" R ")) || bytes.Contains(text, []byte(" W "))) {
		if ms, disk, ok := bareEvent(string(text)); ok {
			if len(x.all) == 0 {
				x.all = append(x.all, listing{disk: true, bare: true, name: disk, line: line})
			}
			l := &x.all[0]
			l.n++
			l.sum += ms
			l.longest = max(l.longest, ms)
			return true
		}
	}
	if !x.open || len(bytes.TrimSpace(text)) == 0 {
		return x.open
	}
	x.all[len(x.all)-1].readEvent(string(text))
	return true
}

// countEvents returns how many events were read.
func (x *listings) countEvents() (n int) {
	for i := range x.all {
		n += x.all[i].n
	}
	return n
}

// isListing says whether text has such a heading with an event below it.
func isListing(head []byte) bool {
	if !bytes.Contains(head, []byte("LAT(")) && !bytes.Contains(head, []byte("LATms")) && !bytes.Contains(head, []byte(averages)) && !bytes.Contains(head, []byte(" W ")) && !bytes.Contains(head, []byte(" R ")) {
		return false
	}
	var x listings
	for l := range bytes.Lines(head) {
		x.readLine(bytes.TrimRight(l[:min(len(l), mostLine)], "\r\n"), 1)
		if n := x.countEvents(); n >= leastBare || n > 0 && !x.all[0].bare {
			return true
		}
	}
	return false
}

// leastBare is how many requests a listing without a heading must have to be one.
const leastBare = 3

// emitDisk writes what all requests of a disk took in the mean.
func (x *listings) emitDisk(b *evidence.Builder) {
	var worst *listing
	for i := range x.all {
		if l := &x.all[i]; l.disk && l.n > 0 && (worst == nil || l.sum/float64(l.n) > worst.sum/float64(worst.n)) {
			worst = l
		}
	}
	if worst == nil {
		return
	}
	host := b.Subject(evidence.Subject{Kind: evidence.Host})
	b.FactAt(host, evidence.FactDiskMean, strings.ToValidUTF8(worst.name[:min(len(worst.name), 60)], "?"), worst.sum/float64(worst.n)*1e6, worst.line)
	b.FactAt(host, evidence.FactDiskRequests, "", float64(worst.n), worst.line)
}

func (x *listings) emitTable(b *evidence.Builder) {
	if x.countEvents() == 0 {
		return
	}
	t := evidence.Table{Title: "events that a tool of bcc printed", Columns: []string{"", "count", "mean ms", "longest ms"}}
	odd := 0
	for i := range x.all {
		l := &x.all[i]
		odd += l.odd
		if l.n > 0 {
			t.Rows = append(t.Rows, []string{"listing " + strconv.Itoa(i+1), strconv.Itoa(l.n), fmt.Sprintf("%.4g", l.sum/float64(l.n)), fmt.Sprintf("%.4g", l.longest)})
		}
	}
	b.Table(t)
	if odd > 0 {
		b.Warnf(0, "%s without a latency in its column", format.Count(odd, "line", "lines"))
	}
}
