// Package jstat reads jstat's output about a JVM's collections, with the options that count them
// and their time: -gc, -gcutil, -gccause, -gcnew, -gcold and the like, JDK 6 to 25, with the
// shell's prompt or without, and with the heading once or every few rows.
//
//	  S0C    S1C    S0U    S1U      EC       EU        OC         OU       MC     MU    CCSC   CCSU   YGC     YGCT    FGC    FGCT     GCT
//	14848.0 41984.0  0.0    0.0   4110336.0 3888676.8 5973504.0  2838417.4  37592.0 36577.7 4096.0 3739.3   3670  183.316   6      7.345  190.661
//
// Source: jstat_options of jdk.jcmd
// (https://github.com/openjdk/jdk/tree/master/src/jdk.jcmd/share/classes/sun/tools/jstat).
//
// Where the rows mislead:
//   - They count since the JVM's start, so the first row says nothing about its own time, and rows
//     within a minute between which nothing was collected say no more than one of them.
//   - A row has the number of collections since the previous one, and their total
//     time: here they lie one after another at the row's end, each as long as the mean.
//   - CMS counts its initial mark and its remark as full collections, two for each cycle. So
//     an even number of them that left the old generation as it was may be those pauses,
//     unless eden and the old generation are full: then no concurrent cycle helps any more.
//   - Only -t prints the time of a row; else the interval in the command gives it. Without
//     both the time between rows is unknown.
package jstat

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Format reads the rows of jstat.
var Format = format.Format{
	Name:  "jstat",
	About: "jstat of a JVM: -gc, -gcutil, -gccause and the like, JDK 6 to 25",
	Match: matchHead,
	Parse: parseArtifact,
}

// Bounds of what is kept.
const (
	maxColumns  = 32
	maxEarly    = 64 // rows before the first heading
	maxPauses   = 1_000_000
	maxOfOneRow = 10_000 // collections between two rows
)

// known are the columns of all options that count collections.
var known = map[string]bool{
	"Timestamp": true, "S0C": true, "S1C": true, "S0U": true, "S1U": true, "EC": true, "EU": true, "OC": true, "OU": true, "PC": true, "PU": true,
	"MC": true, "MU": true, "CCSC": true, "CCSU": true, "YGC": true, "YGCT": true, "FGC": true, "FGCT": true, "CGC": true, "CGCT": true, "GCT": true,
	"S0": true, "S1": true, "E": true, "O": true, "P": true, "M": true, "CCS": true, "TT": true, "MTT": true, "DSS": true, "LGCC": true, "GCC": true,
	"NGCMN": true, "NGCMX": true, "NGC": true, "OGCMN": true, "OGCMX": true, "OGC": true, "MCMN": true, "MCMX": true, "CCSMN": true, "CCSMX": true,
	"PGCMN": true, "PGCMX": true, "PGC": true, "S0CMX": true, "S1CMX": true, "ECMX": true,
}

// parseHeading reads the names of columns, nil for other lines.
func parseHeading(line []byte) []string {
	if !bytes.Contains(line, []byte("YGC")) {
		return nil
	}
	names := strings.Fields(string(line[:min(len(line), 1024)]))
	if len(names) < 3 || len(names) > maxColumns {
		return nil
	}
	counted := false
	for _, name := range names {
		if !known[name] {
			return nil
		}
		counted = counted || name == "YGCT" || name == "FGCT"
	}
	if !counted {
		return nil
	}
	return names
}

func matchHead(head []byte) format.Confidence {
	for l := range bytes.Lines(head) {
		if parseHeading(bytes.TrimRight(l, "\r\n")) != nil {
			return format.Sure
		}
	}
	return format.SureIf(hasImplied(head))
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	p := &parser{b: b, subject: b.Subject(evidence.Subject{Kind: evidence.Process, Runtime: "jvm"})}
	long := false
	err := a.Lines(func(l format.Line) bool {
		p.line, long = l.Number, long || l.Long
		p.parseLine(bytes.TrimSpace(l.Text))
		return l.Number&0xfff != 0 || ctx.Err() == nil
	})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case p.total == 0 && err != nil:
		return err
	case p.total == 0:
		return errors.New("jstat: no rows below its heading: run jstat -gcutil -t PID 1s for some minutes")
	case err != nil:
		b.Warnf(p.line, "the rows are incomplete after this line: %v", err)
	}
	if err != nil || long {
		b.Cut()
	}
	p.emitSummary()
	return nil
}

// row is the used figures of a row, s and counts since the JVM's start.
type row struct {
	at               int64 // s × 1e9 since the JVM's start, 0 unknown
	young, full, con float64
	youngTook        float64
	fullTook         float64
	conTook          float64
	old              float64 // in use: KiB or percent
	oldSize          float64 // KiB, 0 not told
	eden, edenSize   float64 // KiB, or percent and 100
	permanent, size  float64 // in use and size: KiB, or percent and 100
	hasOld, hasFull  bool
	reason           string // of -gccause
	line             int64
}

type parser struct {
	b       *evidence.Builder
	subject evidence.SubjectID
	line    int64

	columns  []string
	early    []early // rows before a heading
	interval int64   // ns, 0 not told
	pid      int

	last        row
	rows        int64 // of this run of the command
	total       int64
	now, from   int64 // ns
	stamped     bool
	apart       bool    // pauses of concurrent cycles have their own columns
	trigger     string  // of the collections being written
	full        float64 // collections of all rows
	fullTook    float64 // s
	between     row     // the sums of all rows
	first       row     // of the first run of the command
	firstPID    int
	newest      row // of any run
	runs        int64
	restarted   bool // a run is of another process, or counts less than the one before
	pauses      int64
	gaps        int64 // rows that a user left out
	backwards   int64
	unknown     int64
	unknownLine int64
}

type early struct {
	text string
	line int64
}

func (p *parser) parseLine(text []byte) {
	if len(text) == 0 {
		return
	}
	if names := parseHeading(text); names != nil {
		p.columns = names
		waiting := p.early
		p.early = nil
		for _, e := range waiting {
			p.parseRow(e.text, e.line)
		}
		return
	}
	if i := bytes.Index(text, []byte("jstat ")); i >= 0 {
		p.parseCommand(string(text[i:min(len(text), i+256)]))
		return
	}
	switch c := text[0]; {
	case len(bytes.Trim(text, ".… ")) == 0:
		p.gaps++
	case c != '-' && (c < '0' || c > '9'):
		p.countUnparsed(p.line)
	case p.columns == nil && impliedColumns(string(text[:min(len(text), 1024)])) != nil:
		p.columns = impliedColumns(string(text[:min(len(text), 1024)]))
		waiting := append(p.early, early{string(text), p.line})
		p.early = nil
		for _, e := range waiting {
			p.parseRow(e.text, e.line)
		}
	case p.columns == nil && len(p.early) < maxEarly:
		p.early = append(p.early, early{string(text[:min(len(text), 1024)]), p.line})
	default:
		p.parseRow(string(text[:min(len(text), 1024)]), p.line)
	}
}

func (p *parser) countUnparsed(line int64) {
	if p.unknown++; p.unknownLine == 0 {
		p.unknownLine = line
	}
}

// parseCommand reads "jstat -gc -h10 17079 10s": the process and the interval.
func (p *parser) parseCommand(text string) {
	p.last, p.rows = row{}, 0 // rows below are of this run
	place := 0
	for _, f := range strings.Fields(text)[1:] {
		if strings.HasPrefix(f, "-") {
			continue
		}
		switch place++; place {
		case 1:
			id, _, _ := strings.Cut(f, "@")
			p.pid, _ = strconv.Atoi(id) // a name gives none
		case 2:
			p.interval = intervalOf(f)
		}
	}
}

// maxInterval is the longest plausible interval: a day.
const maxInterval = int64(86400e9)

// intervalOf reads "10s", "500ms" and "500" of a command, ns; 0 for other text.
func intervalOf(s string) int64 {
	unit := int64(1e6)
	if n, ok := strings.CutSuffix(s, "ms"); ok {
		s = n
	} else if n, ok := strings.CutSuffix(s, "s"); ok {
		s, unit = n, 1e9
	}
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil || n <= 0 || n*unit > maxInterval {
		return 0
	}
	return n * unit
}
