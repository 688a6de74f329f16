package loadresult

import (
	"errors"
	"math"
	"strings"

	"github.com/unstall/unstall/internal/format"
)

// tool is a load generator that prints text.
type tool struct {
	name string
	// starts says whether a line is the first of an output. cur is the output of
	// this tool being read, nil if there is none.
	starts func(line string, cur *run) bool
	create func() *run
	// line reads one line, including the first; it returns false if the line has a figure of the output that it cannot read.
	line  func(r *run, line string) bool
	whole func(r *run) bool
}

var tools = []*tool{
	{"wrk", wrkStarts, newWrk, wrkText, wrkWhole},
	{autocannonName, autocannonStarts, newAutocannon, autocannonText, wrkWhole},
	{"k6", k6Starts, newK6, k6Text, k6Whole},
	{"vegeta", vegetaStarts, newVegeta, vegetaText, vegetaWhole},
	{"bombardier", bombardierStarts, newBombardier, bombardierText, bombardierWhole},
	{"hey", heyStarts, newHey, heyText, heyWhole},
	{"ab", abStarts, newAB, abText, abWhole},
	{"JMeter", jmeterStarts, newJMeter, jmeterText, jmeterWhole},
	{"locust", locustStarts, newLocust, locustText, locustWhole},
	{"Gatling", gatlingTextStarts, newGatlingText, gatlingText, gatlingTextWhole},
	{"redis-benchmark", redisBenchmarkStarts, newRedisBenchmark, redisBenchmarkText, redisBenchmarkWhole},
	{"Artillery", artilleryStarts, newArtillery, artilleryText, artilleryWhole},
	{"go-wrk", goWrkStarts, newGoWrk, goWrkText, goWrkWhole},
	{loadtestName, loadtestStarts, newLoadtest, loadtestText, loadtestWhole},
	{"cockroach workload", cockroachStarts, newCockroach, cockroachText, cockroachWhole},
}

func toolOf(line string, cur *reading) *tool {
	for _, t := range tools {
		var r *run
		if cur != nil && (cur.tool == t || cur.run.Tool == t.name) { // autocannon's first line is that of wrk
			r = cur.run
		}
		if t.starts(line, r) {
			return t
		}
	}
	return nil
}

// reading is the output being read.
type reading struct {
	tool *tool
	run  *run
}

// readText reads any number of outputs, with any text between them. It reads a line when the next one has come, because the
// last may be cut, and 19.80m instead of 19.80ms would be twenty minutes.
func (p *parser) readText(a *format.Artifact) error {
	t := texts{p: p}
	held, number := "", int64(0)
	err := a.Lines(func(l format.Line) bool {
		if number > 0 {
			t.readLine(held, number)
		}
		held, number = plainText(l.Text), l.Number
		return p.ctx.Err() == nil
	})
	if p.ctx.Err() != nil {
		return p.ctx.Err()
	}
	t.lastLine(held, number)
	t.endOutput()
	if t.broken || errors.Is(err, format.ErrCut) {
		p.markCut(number)
		err = nil
	}
	if err == nil && p.runs == 0 {
		err = errors.New("the load generator's output ends before the first result: run the load again and let it finish")
	}
	return err
}

// texts reads a text that holds outputs.
type texts struct {
	p      *parser
	cur    *reading
	broken bool // the last output is not complete
}

func (t *texts) readLine(line string, number int64) {
	if strings.HasPrefix(line, `{"`) && t.p.readEmbedded(line, number) {
		t.cur, t.broken = nil, false // bombardier announces itself before its JSON
		return
	}
	if tool := toolOf(line, t.cur); tool != nil {
		t.endOutput()
		t.cur = &reading{tool, tool.create()}
		t.cur.run.Origin = t.p.b.Origin(number)
	}
	if t.cur != nil && !t.cur.tool.line(t.cur.run, line) {
		t.p.b.Warnf(number, "a line of %s's output was not understood", t.cur.tool.name)
	}
}

// lastLine reads the last line, and drops what it says unless the output is complete with it.
func (t *texts) lastLine(line string, number int64) {
	if t.cur == nil || strings.HasPrefix(line, `{"`) {
		t.readLine(line, number)
		return
	}
	with := t.cur.run.clone()
	if t.cur.tool.line(with, line) && (t.cur.tool.whole(with) || t.cur.tool.name == "k6" && isK6Count(line)) {
		t.cur.run = with
	}
}

func (t *texts) endOutput() {
	if t.cur == nil {
		return
	}
	r := t.cur.run
	t.p.emitRun(r)
	t.broken = !t.cur.tool.whole(r)
	if t.broken && !r.isEmpty() {
		t.p.b.Warnf(r.Origin.Position(), "the output of %s is incomplete: missing values are unknown", r.Tool)
	}
	t.cur = nil
}

// readEmbedded reads a summary that is one line among others.
func (p *parser) readEmbedded(line string, number int64) bool {
	found := decodeDocuments(strings.NewReader(line), math.MaxInt, 1, func(t tree) bool { return summaryOf(t) != nil })
	if len(found) == 0 {
		return false
	}
	r := summaryOf(found[0])(found[0])
	r.Origin = p.b.Origin(number)
	p.emitRun(r)
	if found[0].isCut() {
		p.markCut(number)
	}
	return true
}
