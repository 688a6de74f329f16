package hotspotgc

import (
	"bytes"
	"math"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format/java"
)

// output receives the results of both dialects: events, facts, and lines that gave
// nothing.
type output struct {
	clock clock

	b           *evidence.Builder
	subjects    []evidence.SubjectID // of the processes of clock
	subject     evidence.SubjectID   // the first of them
	names       map[string]string    // those that internText returned
	rows        rows
	events      int64
	safepoints  int64
	collections int64 // events of the collector
	paced       bool  // Shenandoah logs how long it delayed threads that allocate
	hidden      bool  // a safepoint was a collection's, or may have been
	spaced      bool  // a log without stamps has safepoints with the time since the previous one
	disorder    int64 // collections with numbers out of order

	facts map[string]factOf

	ignored     [numLineKinds]int64
	unexplained int64
	example     string // the first line that was not understood
	exampleLine int64
}

// factOf maps names to facts.
type factOf struct {
	value  string
	number float64
	line   int64
}

func newOutput(b *evidence.Builder) *output {
	o := &output{clock: newClock(), b: b, names: make(map[string]string), facts: make(map[string]factOf), rows: newRows(b)}
	o.subject = o.subjectOf(0)
	return o
}

// subjectOf returns the subject of a process of the clock.
func (o *output) subjectOf(i int) evidence.SubjectID {
	for len(o.subjects) <= i {
		o.subjects = append(o.subjects, o.b.Subject(evidence.Subject{Kind: evidence.Process, Runtime: "jvm"}))
	}
	return o.subjects[i]
}

// internText returns s as a string, and does not allocate for one that it returned before.
func (o *output) internText(s []byte) string {
	if t, ok := o.names[string(s)]; ok {
		return t
	}
	if len(o.names) >= maxNames {
		return string(s)
	}
	t := string(s)
	o.names[t] = t
	return t
}

// maxNames bounds the memory that a damaged log can use for text.
const maxNames = 4096

// countIgnored counts a known line that is not used.
func (o *output) countIgnored(k lineKind) { o.ignored[k]++ }

// maxExample bounds the part of a line that was not understood that is kept.
const maxExample = 160

// unknownLine counts a line that was not understood; the first is kept as an example.
func (o *output) unknownLine(text []byte, number int64) {
	if o.unexplained++; o.unexplained == 1 {
		o.example, o.exampleLine = string(text[:min(len(text), maxExample)]), number
	}
}

// setFact sets a fact about the process: a JVM flag by its own name, a size. number is in the base
// unit, NaN for text. The last value counts.
func (o *output) setFact(key, value string, number float64, line int64) {
	if _, known := o.facts[key]; !known && len(o.facts) >= maxNames {
		return // of a damaged log: no JVM has as many flags
	}
	o.facts[key] = factOf{value, number, line}
}

// overheadWords begin the JVM's messages that GC takes nearly all the time and frees nearly
// nothing: adaptiveSizePolicy.cpp to JDK 24 (tags gc, ergo at level trace), then
// serialHeap.cpp, parallelScavengeHeap.cpp and g1CollectedHeap.cpp (tag gc at level info).
var overheadWords = []string{"GC is exceeding overhead limit", "GC would exceed overhead limit", "GC Overhead Limit exceeded too often"}

// countOverhead counts a line that says that the GC overhead limit was reached.
func (o *output) countOverhead(text []byte, line int64) {
	f, known := o.facts[evidence.FactOverheadLimit]
	if !known {
		f = factOf{value: strings.TrimSpace(string(text)), line: line}
	}
	o.setFact(evidence.FactOverheadLimit, f.value, f.number+1, f.line)
}

// countLateThread counts a thread that did not reach a safepoint in time, as -XX:+SafepointTimeout
// names it: `# "worker-7" #33 prio=5 …` (safepoint.cpp,
// SafepointSynchronize::print_safepoint_timeout). It returns false if the line names none.
func (o *output) countLateThread(text []byte, line int64) bool {
	name, ok := bytes.CutPrefix(text, []byte(`# "`))
	if !ok {
		return false
	}
	end := bytes.IndexByte(name, '"')
	if end <= 0 {
		return false
	}
	key := evidence.FactSafepointLate + ": " + string(name[:end])
	f := o.facts[key]
	o.setFact(key, string(name[:end]), max(0, f.number)+1, line)
	return true
}

// setCollector names the collector by its usual name. The first name counts, except that a late
// line may show that the collector is generational.
func (o *output) setCollector(name string, line int64) {
	if f, ok := o.facts[evidence.FactCollector]; !ok || name == "generational "+f.value {
		o.setFact(evidence.FactCollector, name, math.NaN(), line)
	}
}

// setVersion sets the JVM's version as its banner gives it: "1.8.0_292", "17.0.1+12".
func (o *output) setVersion(v string) {
	o.b.Describe(o.subjectOf(o.clock.current), func(s *evidence.Subject) { s.Version = java.Version(v) })
}

// setCPUs sets how many processors the JVM may use.
func (o *output) setCPUs(n int) {
	o.b.Describe(o.subjectOf(o.clock.current), func(s *evidence.Subject) { s.CPUs = n })
}
