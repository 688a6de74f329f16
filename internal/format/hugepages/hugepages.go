// Package hugepages reads what unstall records of the huge pages of a Linux process
// (internal/collect/probe/hugepages): the cost of a page fault on this host, and how much of each huge page the process
// uses:
//
//	# huge pages of pid 4711
//	page 4096 2097152
//	fault 4096 1700 1650 2900 8
//	fault 2097152 34000 31000 52000 6
//	look 1763689985000000000 41943040 16 37
//	look 1763689986000000000 0 0 0
//
// page is the size of a small and of a huge page (bytes). fault is the cost of touching
// fresh memory in the recorder itself, per page of that size: the median, the least and the most
// (ns), and the number of measurements. look is a moment, the size of the process's huge pages (bytes), the number of huge pages that
// were examined, and how many small pages of these held anything but zeros: a page that was never
// written holds only zeros. The kernel finds underused huge pages in the same way (thp_underused
// in mm/huge_memory.c, Linux 6.12 and later).
//
// The package's opinion: a missing figure is unknown; that a process has no huge pages is a fact, too.
package hugepages

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/recording"
)

// Format reads the huge pages of a process.
var Format = format.Format{
	Name:  "hugepages",
	About: "huge pages of a Linux process: what faults for them cost here, how much of them it uses",
	Whole: true,
	Match: matchHead,
	Parse: parseArtifact,
}

const heading = "# huge pages of pid "

func matchHead(head []byte) format.Confidence {
	return format.SureIf(bytes.HasPrefix(head, []byte(heading)))
}

// Bounds of plausible figures.
const (
	mostLooks = 1 << 20
	longest   = 1e12 // ns, of a fault
	largest   = 1 << 50
)

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	p := &parser{b: b}
	if err := p.Scan(ctx, a, func(text []byte) bool { return p.parseLine(string(text)) }); err != nil {
		return err
	}
	if len(p.huge.T) == 0 {
		return errors.New("hugepages: the recording has no sample of the process: record again while it runs")
	}
	p.Warn(b)
	p.emitSeries()
	return nil
}

type parser struct {
	recording.Scanner
	b       *evidence.Builder
	of      evidence.SubjectID
	begun   bool
	small   int64
	large   int64
	told    map[string]bool
	seen    evidence.Series // the examined size
	huge    evidence.Series
	touched evidence.Series

	dropped int64
}

func (p *parser) parseLine(text string) bool {
	if text == "" {
		return true
	}
	if rest, ok := strings.CutPrefix(text, heading); ok {
		pid, err := strconv.ParseInt(rest, 10, 32)
		if err != nil || pid <= 0 || p.begun {
			return false
		}
		p.begun = true
		p.of = p.b.Subject(evidence.Subject{PID: int(pid)})
		return true
	}
	f := strings.Fields(text)
	if !p.begun || len(f) < 2 {
		return false
	}
	n := make([]int64, len(f)-1)
	for i, word := range f[1:] {
		var ok bool
		if n[i], ok = format.ParseDigits([]byte(word)); !ok {
			return false
		}
	}
	switch {
	case f[0] == "page" && len(n) == 2:
		return p.parsePages(n[0], n[1])
	case f[0] == "fault" && (len(n) == 4 || len(n) == 5): // older recordings have no number of measurements
		return p.parseFault(n)
	case f[0] == "look" && len(n) == 4:
		return p.parseLook(n)
	}
	return false
}

// markFirst marks something as read, and returns false if it was read before.
func (p *parser) markFirst(what string) bool {
	if p.told == nil {
		p.told = make(map[string]bool)
	}
	if p.told[what] {
		return false
	}
	p.told[what] = true
	return true
}

func (p *parser) addFact(key, value string, number float64) {
	p.b.Fact(evidence.Fact{Subject: p.of, Key: key, Value: value, Number: number, Origin: p.b.Origin(p.Number)})
}

func (p *parser) parsePages(small, large int64) bool {
	if small <= 0 || large <= small || large > largest || large%small != 0 || !p.markFirst("page") {
		return false
	}
	p.small, p.large = small, large
	p.addFact(evidence.FactSmallPage, strconv.FormatInt(small, 10), float64(small))
	p.addFact(evidence.FactHugePage, strconv.FormatInt(large, 10), float64(large))
	return true
}

func (p *parser) parseFault(n []int64) bool {
	size, median, least, most := n[0], n[1], n[2], n[3]
	key := evidence.FactSmallFault
	switch {
	case p.large == 0 || size != p.small && size != p.large:
		return false
	case size == p.large:
		key = evidence.FactHugeFault
	}
	if median <= 0 || least <= 0 || least > median || median > most || most > longest || !p.markFirst(key) {
		return false
	}
	p.addFact(key, fmt.Sprintf("%d %d", least, most), float64(median))
	return true
}

func (p *parser) parseLook(n []int64) bool {
	at, bytes, looked, touched := n[0], n[1], n[2], n[3]
	switch {
	case !recording.IsDate(at) || bytes > largest || len(p.huge.T) > 0 && at <= p.huge.T[len(p.huge.T)-1]:
		return false
	case looked > 0 && (p.large == 0 || touched > looked*(p.large/p.small)):
		return false
	case looked == 0 && touched > 0:
		return false
	case len(p.huge.T) >= mostLooks:
		p.dropped++
		return true
	}
	add := func(s *evidence.Series, v float64) {
		if len(s.T) == 0 {
			s.Origin = p.b.Origin(p.Number)
		}
		s.T, s.V = append(s.T, at), append(s.V, v)
	}
	add(&p.huge, float64(bytes))
	if looked > 0 {
		add(&p.seen, float64(looked))
		add(&p.touched, float64(touched)/float64(looked))
	}
	return true
}

func (p *parser) emitSeries() {
	for _, s := range []struct {
		series     *evidence.Series
		name, unit string
	}{{&p.huge, evidence.SeriesProcessHuge, "bytes"}, {&p.seen, evidence.SeriesProcessHugeLooked, "1"}, {&p.touched, evidence.SeriesProcessHugeTouched, "1"}} {
		if len(s.series.T) > 0 {
			s.series.Subject, s.series.Name, s.series.Unit = p.of, s.name, s.unit
			p.b.Series(*s.series)
		}
	}
	t := p.huge.T
	p.b.Cover(evidence.Coverage{Subject: p.of, Kind: evidence.CoverHugePages, From: t[0], Until: max(t[len(t)-1], t[0]+1), Origin: p.huge.Origin})
	if p.dropped > 0 {
		p.b.Warnf(0, "there are more than %d looks: %d were left out", mostLooks, p.dropped)
	}
}
