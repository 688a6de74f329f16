// Package redisreply reads a Redis server's answers about itself: Redis 4 to 8,
// Valkey, KeyDB.
//
//	INFO                     sections of name:value; one answer, or many in sequence
//	SLOWLOG GET              calls that took long, with the address of who called
//	LATENCY LATEST, HISTORY, HISTOGRAM
//	CLIENT LIST              a line for each connection
//	MEMORY STATS, CONFIG GET, CLUSTER INFO, LATENCY DOCTOR, MEMORY DOCTOR
//
// in the forms of redis-cli: numbered, as on a terminal and with --no-raw, or one value per line,
// as into a file; the slow log also as clients for Python, Ruby, Node.js and PHP print it (literal.go). A session copied from a terminal is read by its prompts, a recording of
// internal/collect/probe/redis by the line above each answer, with the time and the duration of the answer:
//
//	== 1795268461318000000 SLOWLOG GET of 4711 took 81000 ns ==
//
// Otherwise an answer is recognised by its shape.
//
// Sources: https://redis.io/docs/latest/commands/info/ and the pages of the other commands,
// cliFormatReplyTTY and cliFormatReplyRaw in src/redis-cli.c.
//
// The package's opinion: clients' data are private. Of the arguments of a call only
// their number and length are kept, of a client only its address; passwords and names are not
// read at all.
package redisreply

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Format reads a Redis server's answers about itself.
var Format = format.Format{
	Name:    "redis",
	About:   "what Redis, Valkey or KeyDB say of themselves, as redis-cli prints it: INFO, SLOWLOG GET, LATENCY, CLIENT LIST, MEMORY STATS, CONFIG GET",
	Whole:   true,
	Moments: true,
	Joins:   true,
	Match:   matchHead,
	Parse:   parseArtifact,
}

// Bounds of what is kept.
const (
	mostLines = 1 << 18 // of one answer
	mostNodes = 1 << 19 // likewise
	mostLooks = 1 << 14 // of each figure: twice as many are thinned out to half
	mostNames = 1000    // commands, kinds of errors, addresses
	mostWord  = 64      // of a name of these
	mostSlow  = 100_000

	mostFields  = 20_000 // of an answer to INFO
	mostRefused = 20     // are told one by one
)

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	p := newParser(b)
	p.file = a.Name
	var number int64
	err := a.Lines(func(l format.Line) bool {
		number = l.Number
		p.number = l.Number
		p.parseLine(strings.TrimRight(string(l.Text), "\r"))
		return l.Number&0xfff != 0 || ctx.Err() == nil
	})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && !errors.Is(err, format.ErrCut):
		return err
	}
	p.endAnswer()
	if p.understood == 0 && p.refused == 0 {
		return errors.New("redis: it holds no answer that is read: take it with redis-cli INFO everything > info.txt")
	}
	if p.understood == 0 && !strings.Contains(p.refusal, tooMany) {
		return fmt.Errorf("redis: the server only refused: %s", p.refusal)
	}
	if err != nil {
		b.Warnf(number, "the text is incomplete after this line")
		b.Cut()
	}
	p.emitAll()
	return nil
}

// parser reads one file.
type parser struct {
	b      *evidence.Builder
	file   string // its name
	number int64  // of the line

	now   header // of the answer being read
	kind  kind
	began int64 // its first line
	lines []string
	tree  tree
	loose pasted
	value literal
	torn  bool // the tree ended, and the entries of a slow log continue

	info   snapshot
	told   *figures
	slow   slowlog
	events events
	doctor []spike // by LATENCY DOCTOR
	look   clients
	facts  []evidence.Fact

	subject          evidence.Subject
	own              map[string]float64 // calls of the recorder's so far
	skew             int64              // ns by which the server's clock is behind the recorder's
	dated            int64              // ns: the time above an answer
	undated          bool               // figures have the server's uptime as time, or no time
	looked           [3]int64           // ns: from and until when clients were looked at; line
	understood       int
	refused          int
	refusal          string
	odd, first, over int64 // lines not understood, the first; what was too much
}

// kind is the form of an answer.
type kind uint8

const (
	nothing  kind = iota
	info          // name:value
	numbered      // as on a terminal
	plain         // a value a line
	listed        // connections
	spoken        // of a doctor
	valued        // a value as a client prints it
)

func newParser(b *evidence.Builder) *parser {
	p := &parser{b: b, told: newFigures(), own: make(map[string]float64)}
	p.subject.Runtime = "redis"
	return p
}

func (p *parser) countUnparsed(line int64) {
	if p.odd++; p.odd == 1 {
		p.first = line
	}
}

// parseLine reads a line.
func (p *parser) parseLine(line string) {
	if h, ok := headerOf(line); ok {
		p.endAnswer()
		p.now = h
		if h.at > 0 {
			p.countOwn(h)
		}
		return
	}
	if p.kind == nothing || p.kind == info {
		if at, ok := format.Dated([]byte(strings.TrimSpace(line))); ok { // the time of what follows, as date prints it
			p.endAnswer()
			p.dated = at * 1e9
			return
		}
	}
	if p.kind == nothing {
		p.beginAnswer(line)
		return
	}
	switch p.kind {
	case info:
		p.parseField(line)
	case numbered:
		p.numberedLine(line)
	case listed:
		if line != "" && !p.look.addClient(line) {
			p.endAnswer()
			p.beginAnswer(line)
		}
	case valued:
		if p.value.addLine(line) {
			p.endAnswer()
		}
	default:
		p.keepLine(line)
	}
}

// numberedLine takes a line of a numbered answer. After the end of the tree, a pasted slow log may continue.
func (p *parser) numberedLine(line string) {
	fits := p.loose.field > 0 && p.loose.parseLine(line, p.number)
	if !fits {
		p.loose.field = 0
	}
	if !p.torn && p.tree.parseLine(line, p.number) {
		return
	}
	if fits {
		p.torn = true
		return
	}
	now, flat := p.now, p.tree.root.isFlatLatest()
	p.endAnswer()
	if numbers, rest := parseIndexes(line); flat && len(numbers) == 2 && numbers[1] == 1 { // the next event
		p.now, line = now, "1) 1) "+rest
	}
	p.beginAnswer(line)
}

func (p *parser) keepLine(line string) {
	if len(p.lines) == mostLines {
		p.over++
		return
	}
	p.lines = append(p.lines, line[:min(len(line), 4<<10)])
}

// beginAnswer recognizes by its first line what an answer consists of.
func (p *parser) beginAnswer(line string) {
	p.began = p.number
	switch text := strings.TrimSpace(line); {
	case text == "":
		if p.now.name != "" && plainFirst(p.now.name) {
			p.kind = plain
			p.keepLine(line)
		}
	case isSection(text), p.now.name == "INFO" && isField(text), isField(text) && infoFields[textBefore(text, ':')] != 0, strings.HasPrefix(text, "cluster_state:"):
		p.kind = info
		p.parseField(line)
	case isClient(text):
		p.kind = listed
		p.look.beginList(p.now.at)
		p.look.addClient(text)
	case isNumbered(text), beginsEntry(text):
		p.kind = numbered
		p.torn = !p.tree.parseLine(line, p.number)
		p.loose.parseLine(line, p.number)
	case isRefusal(text):
		p.addRefusal(text)
	case isSpoken(p.now.name, text):
		p.kind = spoken
		p.keepLine(line)
	case opensLiteral(text) && (p.now.name == "" || p.now.name == "SLOWLOG GET"):
		p.kind = valued
		if p.value.addLine(line) {
			p.endAnswer()
		}
	case p.now.name != "" || startsPlain(text):
		p.kind = plain
		p.keepLine(line)
	default:
		p.countUnparsed(p.number)
	}
}

// endAnswer takes the answer that was read.
func (p *parser) endAnswer() {
	kind := p.kind
	p.kind = nothing
	switch kind {
	case info:
		p.endSnapshot()
	case numbered:
		root := p.tree.root
		p.over += p.tree.over
		entries := p.loose.completeCalls()
		torn := p.torn
		p.tree, p.loose, p.torn = tree{}, pasted{}, false
		switch isSlow := p.now.name == "" || p.now.name == "SLOWLOG GET" || p.now.name == "COMMANDLOG GET"; {
		case isSlow && len(entries) > 0 && (torn || !root.isSlow()):
			p.understood++
			p.slow.addCalls(p, entries)
		case !p.takeAnswer(root):
			p.countUnparsed(p.began)
		}
	case plain:
		if !p.takePlain(p.lines) {
			p.countUnparsed(p.began)
		}
	case listed:
		p.understood++
		p.look.addFigures(p)
	case valued:
		calls, _ := parseLiteral(p.value.text.String())
		if len(calls) == 0 || p.value.lost {
			p.countUnparsed(p.began)
		}
		if p.value = (literal{}); len(calls) > 0 {
			for i := range calls {
				calls[i].line = p.began
			}
			p.understood++
			p.slow.addCalls(p, calls)
		}
	case spoken:
		p.understood++
		name := "LATENCY DOCTOR"
		if strings.HasPrefix(p.now.name, "MEMORY") || strings.Contains(p.lines[0], "Sam") {
			name = "MEMORY DOCTOR"
		}
		text := strings.Join(p.lines, "\n")
		p.parseSpikes(p.lines)
		p.setFact(evidence.FactRedisDoctor, name+evidence.Link+strings.ToValidUTF8(text[:min(len(text), 4<<10)], "?"), math.NaN())
	}
	p.lines = p.lines[:0]
	p.now = header{}
}

// addRefusal counts an answer in which the server refused the question, and warns of the first
// ones.
func (p *parser) addRefusal(text string) {
	p.refused++
	text = strings.TrimPrefix(text, "(error) ")
	if p.refusal == "" {
		p.refusal = text[:min(len(text), 200)]
	}
	if strings.Contains(text, tooMany) { // it explains why other clients wait, too
		p.setFact(evidence.FactRedisTold, evidence.RedisMaxClients+evidence.Link+strings.ToValidUTF8(p.refusal, "?"), float64(p.refused))
	}
	if p.refused > mostRefused {
		return
	}
	what := p.now.name
	if what == "" {
		what = "what it was asked"
	}
	p.b.Warnf(p.number, "the server refused %s: %s", what, text[:min(len(text), 200)])
}

// tooMany is the answer of a server that has its maximum of clients.
const tooMany = "max number of clients reached"

// isRefusal knows errors as redis-cli prints them: in brackets on a terminal, else as they came, with a
// first word in capitals.
func isRefusal(text string) bool {
	if strings.HasPrefix(text, "(error) ") {
		return true
	}
	word := textBefore(text, ' ')
	switch word {
	case "ERR", "NOAUTH", "NOPERM", "WRONGPASS", "LOADING", "BUSY", "DENIED", "MASTERDOWN", "CLUSTERDOWN", "MISCONF", "-ERR", "-NOAUTH", "-DENIED", "NOPROTO":
		return word != text
	}
	return false
}

// takeAnswer takes a numbered answer, by the name of what was asked, else by its shape.
func (p *parser) takeAnswer(n *node) bool {
	if n == nil {
		return false
	}
	if n.kind == failed {
		p.addRefusal(n.text)
		return true
	}
	p.understood++
	switch name := p.now.name; {
	case name == "SLOWLOG GET" || name == "COMMANDLOG GET" || name == "" && n.isSlow():
		return p.slow.takeReply(p, n)
	case (name == "LATENCY LATEST" || name == "") && n.isFlatLatest():
		return p.events.takeLatest(p, &node{kind: list, items: []*node{{kind: list, items: append(n.items[0].items, n.items[1:]...)}}})
	case name == "LATENCY LATEST" || name == "" && n.isLatest():
		return p.events.takeLatest(p, n)
	case name == "LATENCY HISTORY" || name == "" && n.isHistory():
		return p.events.takeHistory(p, cmp.Or(p.now.of, p.eventOfFile()), n)
	case name == "LATENCY HISTOGRAM" || name == "" && n.isHistogram():
		return p.takeHistogram(n)
	case name == "MEMORY STATS" || name == "" && n.beginsWith("peak.allocated"):
		return p.takeMemory(n)
	case name == "CONFIG GET" || name == "" && n.isConfig():
		return p.takeSettings(n.itemTexts())
	case n.kind == list && len(n.items) == 0:
		return true // an empty answer to an unknown command
	case n.kind == text && strings.Contains(n.text, "\n"): // redis-cli --no-raw quotes these
		p.understood--
		now := p.now
		for _, line := range strings.Split(strings.TrimRight(n.text, "\r\n"), "\n") {
			p.parseLine(strings.TrimRight(line, "\r"))
			p.now = now
		}
		p.endAnswer()
		return true
	}
	p.understood--
	return false
}

// severalFacts are of names with several values at a time.
var severalFacts = map[string]bool{evidence.FactRedisDoctor: true, evidence.FactListens: true}

// setFact sets a fact; the newest value of a name holds.
func (p *parser) setFact(key, value string, number float64) {
	f := evidence.Fact{Key: key, Value: value, Number: number, Origin: p.b.Origin(p.began)}
	if i := slices.IndexFunc(p.facts, func(o evidence.Fact) bool { return o.Key == key && (!severalFacts[key] || o.Value == value) }); i >= 0 {
		p.facts[i] = f
		return
	}
	if len(p.facts) == mostNames {
		p.over++
		return
	}
	p.facts = append(p.facts, f)
}

// emitAll writes what was read.
func (p *parser) emitAll() {
	b := p.b
	if p.undated {
		p.dateFigures()
	}
	id := b.Subject(p.subject)
	for _, f := range p.facts {
		f.Subject = id
		b.Fact(f)
	}
	p.told.emitSeries(b, id)
	if from := p.looked[0]; from > 0 {
		b.Cover(evidence.Coverage{Subject: id, Kind: evidence.CoverRedisClients, From: from, Until: max(p.looked[1], from+1), Origin: b.Origin(p.looked[2])})
	}
	p.slow.emitCalls(b, id)
	if len(p.told.series) == 0 && len(p.slow.calls) == 0 && !p.events.asked {
		p.emitSpikes(id)
	}
	p.events.emitStalls(b, id)
	if p.odd > 0 {
		b.Warnf(p.first, "lines not understood: %d; the first is line %d", p.odd, p.first)
	}
	if p.over > 0 {
		b.Warnf(0, "it holds too much: %d lines or figures left out", p.over)
	}
}

// dateFigures dates figures without a date by the newest dated entry, or by
// the file's last write.
func (p *parser) dateFigures() {
	newest := p.told.newestTime()
	at := p.b.Modified()
	for _, c := range p.slow.calls {
		at = max(at, c.high)
	}
	for _, e := range p.events.all {
		at = max(at, e.at)
	}
	if at == 0 || at < newest {
		p.b.Clock().Name, p.b.Clock().Error = "since the server's start", evidence.Unanchored
		return
	}
	p.told.shift(at - newest)
	if p.looked[0] > 0 {
		p.looked[0], p.looked[1] = p.looked[0]+at-newest, p.looked[1]+at-newest
	}
}

// answerTime returns the time of an answer: as recorded, else that of the INFO before it, else
// none.
func (p *parser) answerTime() int64 {
	if p.now.at > 0 {
		return p.now.at
	}
	if p.told.looks == 0 {
		p.undated = true
		return 1
	}
	return p.told.last
}

func textBefore(text string, c byte) string {
	word, _, _ := strings.Cut(text, string(c))
	return word
}

// matchHead recognizes an artifact by its first lines.
func matchHead(head []byte) format.Confidence {
	var first []string
	for l := range bytes.Lines(head) {
		if text := strings.TrimRight(string(l[:min(len(l), 512)]), " \r\n"); text != "" || len(first) > 0 {
			first = append(first, text)
		}
		if len(first) == 40 {
			break
		}
	}
	if len(first) > 0 && beginsAnswers(first) {
		return format.Sure
	}
	head = bytes.TrimLeft(head, " \t\r\n")
	if isList := bytes.HasPrefix(bytes.TrimPrefix(head, []byte(answered)), []byte("[")) || opensPHP(string(head[:min(len(head), 16)])); isList && beginsLiteral(string(head)) {
		return format.Sure
	}
	return format.No
}

// severalKnown is how many fields of INFO identify a part of an answer.
const severalKnown = 3

// isKnown says whether a field is one of INFO's.
func isKnown(name string) bool {
	if infoFields[name] != unused {
		return true
	}
	for _, p := range []string{"redis_", "valkey_", "cmdstat_", "latency_percentiles_", "errorstat_", "rdb_", "aof_", "maxmemory", "used_memory_", "connected_slaves", "master_repl", "db"} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// beginsAnswers says whether the lines begin an answer. A prompt counts if what was asked is read
// here.
func beginsAnswers(first []string) bool {
	for len(first) > 1 {
		if _, ok := format.Dated([]byte(strings.TrimSpace(first[0]))); !ok && first[0] != "" {
			break
		}
		first = first[1:]
	}
	if h, ok := headerOf(first[0]); ok {
		return h.at > 0 || h.isRead()
	}
	switch text := first[0]; {
	case isSection(text):
		for _, l := range first[1:] {
			switch {
			case l == "" || isSection(l):
			case !isField(l):
				return false
			case isKnown(textBefore(l, ':')):
				return true
			}
		}
		return false
	case isField(text) && isKnown(textBefore(text, ':')): // a part of an answer: other programs print single fields, too
		known := 0
		for _, l := range first {
			if isField(l) && isKnown(textBefore(l, ':')) {
				if known++; known == severalKnown {
					return true
				}
			} else if l != "" && !isField(l) && !isSection(l) {
				break
			}
		}
	}
	switch text := first[0]; {
	case strings.HasPrefix(text, "redis_version:"), strings.HasPrefix(text, "cmdstat_") && strings.Contains(text, ":calls="), strings.HasPrefix(text, "cluster_state:"):
		return true
	case isClient(text):
		return true
	case isNumbered(text):
		var t tree
		for i, l := range first {
			if !t.parseLine(l, int64(i)) {
				break
			}
		}
		return hasEntry(first) || t.root.isSlow() || t.root.isLatest() || t.root.isFlatLatest() || t.root.isHistory() || t.root.isHistogram() || t.root.beginsWith("peak.allocated") || t.root.isConfig()
	}
	if beginsEntry(first[0]) {
		return hasEntry(first)
	}
	return isSpoken("", first[0]) || plainShape(first) != "" || isRefusal(first[0]) && (!strings.HasPrefix(first[0], "ERR ") || strings.Contains(first[0], tooMany)) // which others begin with, too
}
