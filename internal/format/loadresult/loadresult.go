// Package loadresult reads what load generators print and write: how many
// requests, how fast, how slow, and, where an output has a row for each request,
// the requests themselves.
//
//	unstall     load --format json, schema unstall.load/v1; load --rows, unstall.requests/v1
//	k6          end-of-test summary as text (legacy to 2.x), --summary-export,
//	            handleSummary data, --out json    github.com/grafana/k6 internal/js/summary.go, internal/output/json
//	            --out csv                         output/csv
//	gatling     simulation.log of 2.0 to 3.11     github.com/gatling/gatling gatling-core …/stats/writer/LogFileDataWriter.scala
//	vegeta      report as text, json, hist, hdrplot; encode to json and csv (12)
//	                                              github.com/tsenart/vegeta lib/reporters.go, lib/results.go
//	wrk, wrk2   text, with --latency and -U       github.com/wg/wrk, github.com/giltene/wrk2 src/wrk.c
//	autocannon  text (1 to 8)                     github.com/mcollina/autocannon lib/printResult.js
//	bombardier  text and json (1.2)               github.com/codesenberg/bombardier templates.go
//	hey         text and csv                      github.com/rakyll/hey requester/print.go
//	oha         text and json                     github.com/hatoo/oha schema.json
//	ab          text (2.3)                        github.com/apache/httpd support/ab.c
//	JMeter      lines of its Summariser           github.com/apache/jmeter …/reporters/Summariser.java
//	Gatling     its text at the end (2.0 to 3.13) github.com/gatling/gatling gatling-charts
//	Artillery   its summary (2.0)                 github.com/artilleryio/artillery
//	locust      tables of its console             github.com/locustio/locust locust/stats.py
//	go-wrk      text                              github.com/adjust/go-wrk
//	loadtest    its result (1 to 8)                github.com/alexfernandez/loadtest lib/result.js
//	redis-benchmark  text, with -q too (2 to 8)   github.com/redis/redis src/redis-benchmark.c
//
// The package's opinion: a latency means nothing without the moment that it is
// counted from, so every result says whether that is the send or the intended
// time; a request without an answer of 2xx or 3xx failed, whatever the
// tool calls it; and a figure that a tool does not print stays unknown.
package loadresult

import (
	"bytes"
	"context"
	"errors"
	"math"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Format reads results of load generators.
var Format = format.Format{
	Name:  "loadresult",
	About: "results of load generators: unstall, k6, Gatling (2.0 to 3.11), vegeta, wrk, wrk2, autocannon, bombardier, hey, oha, ab, JMeter's summariser, locust, Artillery, go-wrk, loadtest, redis-benchmark",
	Whole: true,
	Match: matchHead,
	Parse: parseArtifact,
}

// parser reads one artifact.
type parser struct {
	ctx  context.Context
	b    *evidence.Builder
	runs int // results written
}

type reader func(p *parser, a *format.Artifact) error

func matchHead(head []byte) format.Confidence {
	if findReader(head) == nil {
		return format.No
	}
	return format.Sure
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	head, err := readHead(a)
	if err != nil {
		return err
	}
	read := findReader(head)
	if read == nil {
		return errors.New("not the output of a load generator unstall reads")
	}
	return read(&parser{ctx: ctx, b: b}, a)
}

// readHead reads the head that match saw, or enough of it.
func readHead(a *format.Artifact) ([]byte, error) {
	var head []byte
	err := a.Lines(func(l format.Line) bool {
		head = append(append(head, l.Text[:min(len(l.Text), format.HeadSize)]...), '\n')
		return len(head) < format.HeadSize
	})
	if errors.Is(err, format.ErrCut) && len(head) > 0 {
		err = nil // the head suffices here; the reader meets the same error again
	}
	return head, err
}

// mostBefore is how many JSON values may stand before a summary: a file with more, such as a log of JSON lines,
// is not decoded as far as match sees it.
const mostBefore = 32

// findReader finds the reader of an artifact with this beginning, nil if it is of no known load
// generator.
func findReader(head []byte) reader {
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
	first, _, _ := bytes.Cut(text, []byte("\n"))
	first = bytes.TrimRight(first, "\r")
	switch {
	case len(first) == 0:
		return nil
	case first[0] == '{':
		switch {
		case isK6Line(first):
			return (*parser).k6Lines
		case isVegetaLine(first):
			return (*parser).vegetaLines
		case len(decodeDocuments(bytes.NewReader(text), mostBefore, 1, func(t tree) bool { return summaryOf(t) != nil })) > 0:
			return (*parser).readSummaries
		}
	case isRequests(first):
		return (*parser).unstallRequests
	case string(first) == heyHeader:
		return (*parser).heyCSV
	case isVegetaRow(first):
		return (*parser).vegetaCSV
	case isK6CSV(first):
		return (*parser).k6CSV
	case isGatling(head):
		return (*parser).gatlingLog
	case isGatlingBinary(head):
		return (*parser).gatlingBinary
	case isVegetaGob(head):
		return (*parser).vegetaGob
	}
	for line := range bytes.Lines(head) {
		if toolOf(plainText(line), nil) != nil {
			return (*parser).readText
		}
	}
	return nil
}

// readSummaries reads one or more summaries.
func (p *parser) readSummaries(a *format.Artifact) error {
	content, err := readWhole(a)
	if err != nil && len(content) == 0 {
		return err
	}
	cut := err != nil
	var runs []*run
	docs := decodeDocuments(bytes.NewReader(content), math.MaxInt, maxRuns, func(t tree) bool { return summaryOf(t) != nil })
	for _, t := range docs {
		r := summaryOf(t)(t)
		r.Origin = p.b.Origin(1)
		runs = append(runs, r)
		cut = cut || t.isCut()
	}
	for _, r := range runs {
		p.emitRun(r)
	}
	if cut {
		p.markCut(0)
	}
	if p.runs == 0 {
		return errors.New("it ends before the first result: run the load again and let it finish")
	}
	return nil
}

const maxDocument = 16 << 20

// readWhole reads an artifact that is one document, up to 16 MiB.
func readWhole(a *format.Artifact) ([]byte, error) {
	var content []byte
	err := a.Lines(func(l format.Line) bool {
		content = append(append(content, l.Text...), '\n')
		return len(content) < maxDocument
	})
	return content, err
}

// summaries identifies JSON summaries by the keys that they must have.
var summaries = []struct {
	is   func(tree) bool
	read func(tree) *run
}{
	{func(t tree) bool { return t.stringAt("schema") == "unstall.load/v1" }, unstallJSON},
	{func(t tree) bool { return t.hasValue("spec", "numberOfConnections") && t.hasValue("result") }, bombardierJSON},
	{func(t tree) bool {
		return t.hasValue("metrics", "http_req_duration") || t.hasValue("metrics", "http_reqs")
	}, k6JSON},
	{func(t tree) bool { return t.hasValue("latencies", "mean") || t.hasValue("latencies", "total") }, vegetaJSON},
	{func(t tree) bool { return t.hasValue("summary", "successRate") }, ohaJSON},
}

func summaryOf(t tree) func(tree) *run {
	for _, s := range summaries {
		if s.is(t) {
			return s.read
		}
	}
	return nil
}

// markCut notes that the artifact breaks off.
func (p *parser) markCut(line int64) {
	p.b.Warnf(line, "it is incomplete: the figures cover only the part that is there")
	p.b.Cut()
}

// plainText returns a line without its end and without colours.
func plainText(line []byte) string {
	s := strings.TrimRight(string(line[:min(len(line), 64<<10)]), "\r\n")
	for {
		i := strings.Index(s, "\x1b[")
		if i < 0 {
			return s
		}
		j := i + 2
		for j < len(s) && (s[j] >= '0' && s[j] <= '9' || s[j] == ';') {
			j++
		}
		s = s[:i] + s[min(j+1, len(s)):]
	}
}
