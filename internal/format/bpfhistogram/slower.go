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
// share and no verdict: the number of events and the longest are shown.

// latencyUnits are the headings of the column, with their unit in ms.
var latencyUnits = []struct {
	word string
	ms   float64
}{{"LAT(us)", 1e-3}, {"LAT(ms)", 1}}

// mostTables bounds the listings that are kept.
const mostTables = 100

// listing is the events below one heading.
type listing struct {
	from, to int // columns of the heading's word
	unit     float64
	n        int
	longest  float64 // ms
	sum      float64
	odd      int // lines that are no event
}

// latencyColumn finds the column of latencies of a heading; false for other lines.
func latencyColumn(text []byte) (l listing, ok bool) {
	f := bytes.Fields(text)
	if len(f) < 4 || !bytes.Contains(text, []byte(" COMM")) && !bytes.HasPrefix(text, []byte("COMM")) {
		return l, false
	}
	for _, u := range latencyUnits {
		if at := bytes.Index(text, []byte(u.word)); at >= 0 {
			return listing{from: at, to: at + len(u.word), unit: u.ms}, true
		}
	}
	return l, false
}

// readEvent takes the latency of a line.
func (l *listing) readEvent(text string) {
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
func (x *listings) readLine(text []byte) bool {
	if l, ok := latencyColumn(text); ok && len(x.all) < mostTables {
		x.all, x.open = append(x.all, l), true
		return true
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
	if !bytes.Contains(head, []byte("LAT(")) {
		return false
	}
	var x listings
	for l := range bytes.Lines(head) {
		x.readLine(bytes.TrimRight(l[:min(len(l), mostLine)], "\r\n"))
		if x.countEvents() > 0 {
			return true
		}
	}
	return false
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
