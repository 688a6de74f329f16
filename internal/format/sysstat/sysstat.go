// Package sysstat reads the text output of a Linux host's usual tools:
// vmstat of procps, and mpstat, pidstat, iostat and sar of sysstat.
//
//	top                     CPU by mode (top.go)
//	free                    memory (free.go)
//	dstat                   CPU by mode, swap, tasks (dstat.go)
//	vmstat 1                r, b, memory, swap, blocks, interrupts, switches, CPU by mode
//	mpstat -P ALL 1         CPU by mode, of each CPU
//	pidstat -u -r -d -w 1   CPU, faults, size, disks, switches of processes, -t of their threads
//	iostat -x 1             CPU by mode, requests, bytes, times and queue of disks
//	sar -u -B -d -q -r -w -W -n DEV,SOFT   likewise, and paging, the run queue, PSI, the network
//	iostat -x 1             of Solaris and FreeBSD, too
//	iostat, mpstat -o JSON  likewise (json.go)
//
// From their sources and manuals, https://github.com/sysstat/sysstat 9.0 to 12.7 and
// https://gitlab.com/procps-ng/procps 3.2 to 4.0. Columns are found by name, as they
// differ from version to version. They become the series that package procfs gives of /proc.
//
// Where the figures lie, or lack something:
//   - Who pastes one report of iostat without the line that the tool begins with took it from the middle: it
//     is kept.
//   - Where that line is not there the rows of mpstat -P ALL tell how many CPUs there are.
//   - A row tells of the time since the row before. The first report of vmstat and iostat is
//     of the time since boot, and left out (with iostat -y and vmstat -y a true one is).
//   - vmstat and iostat print no time unless told to (-t). Their reports are taken for 1 s apart
//     then: they cannot be joined with other files, and rates are as printed.
//   - The others print the time of day, without its zone: it is read as UTC. A date that may
//     be month first or day first is taken for month first, as in the C locale, unless the day
//     is above 12.
//   - vmstat does not tell how many CPUs there are: its shares are shares of all of them.
//   - %system of sar -u holds interrupts; with -u ALL, and in mpstat, they are apart.
//   - runq-sz of sar is without sar itself. Switches and %wait of pidstat are those of the main
//     thread, but with -t.
//   - With vmstat -S units are others than the headings say: those are not known here.
//
// The package's opinion: text copied into a ticket is evidence, including headings of several
// pages, averages and decimal commas; an unknown column is no error.
package sysstat

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Format reads the output of these tools, of one or of several.
var Format = format.Format{
	Name:  "sysstat",
	About: "text of vmstat, mpstat, pidstat, iostat, sar, free, dstat and the head of top, procps 3.2 to 4.0, sysstat 9.0 to 12.7, and JSON of iostat and mpstat",
	Match: matchHead,
	Parse: parseArtifact,
}

// matchHead is sure of the line that tools of sysstat begin with, of headings, and of rows of
// JSON.
func matchHead(head []byte) format.Confidence {
	if bytes.IndexByte(head, '{') >= 0 && isNotation(string(head)) {
		return format.Sure
	}
	for i := 0; i < 200 && len(head) > 0; i++ {
		line, more, whole := bytes.Cut(head, []byte("\n"))
		if !whole && i > 0 {
			return format.No // cut anywhere
		}
		text := string(line[:min(len(line), mostLine)])
		if _, ok := parseBanner(text); ok || isTop(strings.TrimLeft(text, " \t")) || isFree(text, more) || dstatOf(text) != nil {
			return format.Sure
		}
		if h := headingOf(strings.Fields(text)); h != nil && h.kind != other {
			return format.Sure
		}
		head = more
	}
	return format.No
}

// Limits of what is kept: about 100 MB.
const (
	mostLine      = 4096
	mostProcesses = 4096
	mostPoints    = 4 << 20
	mostNames     = 256 // of disks and interfaces
	mostColumns   = 128
	mostCPUs      = 1 << 16
)

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	p := &parser{b: b, byPID: make(map[int]*process), names: make(map[string]bool), cpuRows: make(map[int]bool)}
	err := a.Lines(func(l format.Line) bool {
		p.number = l.Number
		if !p.notation.on && bytes.IndexByte(l.Text, '"') >= 0 {
			p.notation.on = isNotationLine(l.Text)
		}
		if p.notation.on {
			p.parseNotation(string(l.Text))
		} else if text := strings.TrimSpace(string(l.Text[:min(len(l.Text), mostLine)])); text != "" {
			p.parseLine(text)
		}
		return l.Number&0xfff != 0 || ctx.Err() == nil
	})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && !errors.Is(err, format.ErrCut):
		return err
	case err != nil:
		b.Warnf(p.number, "the recording is incomplete after this line: %v", err)
		b.Cut()
	}
	p.endTopCPUs()
	p.flushSums()
	if p.points == 0 && p.used == 0 {
		return errors.New("sysstat: it holds no row of figures: let the tool print some, as vmstat -t 1 30 does")
	}
	return p.emitAll()
}

// parser reads one artifact.
type parser struct {
	b     *evidence.Builder
	clock clock
	host  tracks
	name  string
	cpus  int
	seen  string // the kernel, from parseBanner

	processes []*process
	byPID     map[int]*process
	names     map[string]bool // of disks and interfaces
	disks     []string

	h       *heading
	thread  *process     // the process of the following rows of threads (pidstat -t)
	greeted bool         // a banner was there
	cpuRows map[int]bool // CPUs with rows of their own beside one of all of them
	told    [kinds]bool  // kinds of rows in this report, where reports have no time
	boot    [kinds]int   // reports of a kind that may be since boot
	sums    []sum        // of this moment
	sumsAt  int64

	number, points, dropped int64
	used, odd, firstOdd     int64
	averages, ignored       int64 // rows
	sinceBoot               bool  // a report of the time since boot is used

	freeColumns   []string
	freeUnit      float64 // unit, bytes
	freeTotal     float64 // bytes of the host, by free
	freeTotalLine int64

	notation notation // JSON

	dstat *dstat

	topCPUs  cpusOfTop
	tops     int     // screens of top
	topLoads float64 // the load of the last
}

func (p *parser) parseLine(text string) {
	if x, ok := parseBanner(text); ok {
		p.takeBanner(x)
		return
	}
	if p.parseTopCPU(text) {
		p.used++
		return
	}
	p.endTopCPUs()
	if strings.Contains(text, "Cpu(s):") || strings.HasPrefix(text, "top - ") || strings.HasPrefix(text, "CPU:") || p.tops > 0 && strings.HasPrefix(text, "Load average: ") {
		if p.parseTop(text) {
			p.used++
			return
		}
	}
	if p.parseFree(text) {
		return
	}
	if d := dstatOf(text); d != nil {
		if p.dstat == nil || p.dstat.groups != d.groups { // else the heading is printed again
			p.dstat = d
		}
		return
	}
	if p.dstat != nil && p.parseDstat(text) {
		p.used++
		return
	}
	if p.tops > 0 && p.h == nil && p.belowTop(text) {
		return
	}
	f := strings.Fields(text)
	if len(f) > mostColumns {
		f = f[:mostColumns]
	}
	if h := headingOf(f); h != nil {
		p.setHeading(h)
		return
	}
	if p.clock.parseReportTime(text) { // iostat -t
		p.h = nil
		return
	}
	switch {
	case strings.Contains(text, "--memory--") || strings.Contains(text, "-memory-"):
		return // above vmstat's headings
	case strings.Contains(text, "LINUX RESTART"):
		p.h = nil
		return
	case isAverage(f[0]):
		p.averages++
		return
	case p.h == nil:
		p.countUnparsed()
		return
	case p.h.kind == other:
		p.ignored++
		return
	}
	if p.parseRow(f) {
		p.used++
	} else {
		p.countUnparsed()
	}
}

func (p *parser) countUnparsed() {
	if p.odd++; p.firstOdd == 0 {
		p.firstOdd = p.number
	}
}

// isAverage says whether a row is one of averages: "Average:", "Moyenne :", "Durchschn.:",
// "Média:".
func isAverage(first string) bool {
	return strings.HasSuffix(first, ":") && first[0] > '9' || first == "Moyenne"
}

// greeting is the first line of sysstat's tools.
type greeting struct {
	release, host, date string
	cpus                int
}

// parseBanner reads "Linux 6.1.0-18-amd64 (web1) 	11/23/2026 	_x86_64_	(8 CPU)".
func parseBanner(text string) (g greeting, ok bool) {
	f := strings.Fields(text)
	if len(f) < 4 || f[0] != "Linux" || !strings.HasPrefix(f[2], "(") || !strings.HasSuffix(f[2], ")") || f[1][0] < '0' || f[1][0] > '9' {
		return g, false
	}
	g = greeting{release: f[1], host: f[2][1 : len(f[2])-1], date: f[3]}
	if n := len(f); n > 5 && strings.HasPrefix(f[n-2], "(") && strings.HasSuffix(f[n-1], ")") {
		if v, is := parseNumber(f[n-2][1:]); is && v.v >= 1 && v.v <= 1<<16 {
			g.cpus = int(v.v)
		}
	}
	return g, true
}

// takeBanner takes the figures of a banner. Several may follow each other, of several tools.
func (p *parser) takeBanner(g greeting) {
	p.flushSums()
	p.greeted = true
	p.h, p.thread = nil, nil
	p.boot, p.told = [kinds]int{}, [kinds]bool{}
	if p.name == "" {
		p.name = cleanText(g.host)
	}
	if g.cpus > 0 {
		p.cpus = g.cpus
	}
	if p.seen == "" {
		p.seen = cleanText(g.release)
	}
	p.clock.setDate(g.date)
}

// setHeading begins rows. Where reports have no time, a heading of a kind that this report already
// has begins the next report.
func (p *parser) setHeading(h *heading) {
	if h.timed == none && h.kind != memoryOfHost {
		if p.told[h.kind] {
			p.flushSums()
			p.told = [kinds]bool{}
			p.clock.nextReport()
		}
		p.told[h.kind] = true
		p.boot[h.kind]++
	}
	if p.h == nil || p.h.kind != h.kind || h.timed == none {
		p.thread = nil
	}
	h.line = p.number
	p.h = h
}

func cleanText(s string) string {
	return strings.ToValidUTF8(s[:min(len(s), 64)], "")
}

// figure is a number as a tool printed it.
type figure struct {
	v     float64
	bytes bool // with a unit behind it (--human)
}

// parseNumber reads "0.50", "0,50", "12%" and, with --human, "1.5M" bytes.
func parseNumber(s string) (f figure, ok bool) {
	s = strings.TrimSuffix(s, "%")
	if n := len(s); n > 1 {
		for i, unit := range "BkMGTP" {
			if rune(s[n-1]) == unit {
				f, ok = parseNumber(s[:n-1])
				return figure{f.v * float64(int64(1)<<(10*i)), true}, ok && !f.bytes
			}
		}
	}
	if len(s) == 0 || len(s) > 24 {
		return f, false
	}
	scale, point := 1., false
	for _, c := range []byte(s) {
		switch {
		case c >= '0' && c <= '9':
			f.v = f.v*10 + float64(c-'0')
			if point {
				scale *= 10
			}
		case (c == '.' || c == ',') && !point:
			point = true
		default:
			return f, false
		}
	}
	f.v /= scale
	return f, s[0] != '.' && s[0] != ','
}

func (f figure) scaledBy(factor float64) float64 {
	if f.bytes {
		return f.v
	}
	return f.v * factor
}
