package jfr

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/redact"
	"github.com/unstall/unstall/internal/format/java"
	"github.com/unstall/unstall/internal/format/jfr/recording"
)

// virtualMachine reads the process of the recording.
func (p *parser) virtualMachine(e *recording.Record) {
	p.about.PID = int(max(0, min(e.Int("pid"), 1<<31)))
	if at := e.Int("jvmStartTime"); at > 0 {
		p.about.StartTime = at
	}
	name := e.Text("jvmVersion") // "OpenJDK 64-Bit Server VM (17.0.15+6-Debian-1deb12u1) for linux-amd64 JRE (17.0.15+6-Debian-1deb12u1), built on …"
	if _, rest, ok := strings.Cut(name, "("); ok {
		release, _, _ := strings.Cut(rest, ")")
		p.about.Version = java.Version(release)
	}
	if command := e.Text("javaArguments"); command != "" && !strings.HasPrefix(command, "*") {
		main, _, _ := strings.Cut(command, " ")
		main = main[strings.LastIndexByte(main, '/')+1:]
		if !strings.HasSuffix(main, ".jar") {
			main = main[strings.LastIndexByte(main, '.')+1:]
		}
		p.about.Name = strings.ToValidUTF8(string(redact.Value([]byte(main))), "?")
	}
}

// collectorNames maps pairs of collectors to their usual name
// (https://github.com/openjdk/jdk/blob/master/src/hotspot/share/gc/shared/gcName.hpp).
var collectorNames = []struct{ part, name string }{
	{"G1", "G1"}, {"ParallelScavenge", "Parallel"}, {"ParNew", "ParNew+CMS"}, {"ConcurrentMarkSweep", "ParNew+CMS"}, {"DefNew", "Serial"},
	{"ZGC M", "generational ZGC"}, {"ZGC", "ZGC"}, {"Z", "ZGC"}, {"Shenandoah", "Shenandoah"}, {"Epsilon", "Epsilon"},
}

func (p *parser) gcConfiguration(e *recording.Record) {
	young, old := e.Text("youngCollector"), e.Text("oldCollector")
	for _, k := range collectorNames {
		if strings.HasPrefix(young, k.part) || strings.HasPrefix(old, k.part) {
			p.addFact(evidence.FactCollector, k.name, math.NaN())
			break
		}
	}
	p.addNumberFact(evidence.FactParallelGCThreads, e, "parallelGCThreads")
	p.addNumberFact(evidence.FactConcGCThreads, e, "concurrentGCThreads")
}

func (p *parser) heapConfiguration(e *recording.Record) {
	p.addNumberFact(evidence.FactMinHeapSize, e, "minSize")
	p.addNumberFact(evidence.FactMaxHeapSize, e, "maxSize")
	p.addNumberFact(evidence.FactInitialHeapSize, e, "initialSize")
}

// addNumberFact adds the number in a field as a fact.
func (p *parser) addNumberFact(key string, e *recording.Record, field string) {
	if n := e.Int(field); e.Has(field) && n > 0 {
		p.addFact(key, strconv.FormatInt(n, 10), float64(n))
	}
}

// addFact adds a fact unless the last one of its key has the same value: periodic events repeat it.
func (p *parser) addFact(key, value string, number float64) {
	if p.facts[key] == value {
		return
	}
	p.facts[key] = value
	p.b.Fact(evidence.Fact{Subject: p.subject, Key: key, Value: value, Number: number, Origin: p.b.Origin(p.number)})
}

// containerConfiguration notes how many CPUs the JVM may use.
func (p *parser) containerConfiguration(e *recording.Record) {
	if n := e.Int("effectiveCpuCount"); n > 0 && n < 1<<16 {
		p.about.CPUs = int(n)
	}
}

// cpuInformation notes how many CPUs the host has; what a container may use takes precedence.
func (p *parser) cpuInformation(e *recording.Record) {
	if n := e.Int("hwThreads"); n > 0 && n < 1<<16 {
		p.cpus = int(n)
	}
}

// point is a figure at a time.
type point struct {
	at    int64
	value float64
}

// cpuLoad notes the share of all CPUs that the JVM used since the event before.
func (p *parser) cpuLoad(e *recording.Record) {
	if v := 100 * (e.Float("jvmUser") + e.Float("jvmSystem")); v >= 0 && v <= 100 {
		p.loads = append(p.loads, point{e.Start(), v})
	}
}

// exceptionStatistics notes how many exceptions were thrown since the JVM's start.
func (p *parser) exceptionStatistics(e *recording.Record) {
	p.throws = append(p.throws, point{e.Start(), float64(e.Int("throwables"))})
}

// activeSetting notes a setting of an event type, which it names by number.
func (p *parser) activeSetting(e *recording.Record) {
	of := p.classes[e.Int("id")]
	if of == nil {
		return
	}
	name, value := e.Text("name"), e.Text("value")
	switch {
	case name == "period" && of.Name == "jdk.ExecutionSample":
		if d, ok := parseDuration(value); ok && d >= 1e6 && d <= 1e9 {
			p.period = d
		}
	case name == "threshold" && value != "":
		if d, ok := parseDuration(value); ok {
			p.thresholds[of.Name] = d
		}
	case name == "enabled":
		p.enabled[of.Name] = p.enabled[of.Name] || value == "true"
	}
}

// durations are the units of settings, "20 ms"
// (https://docs.oracle.com/en/java/javase/21/docs/api/jdk.jfr/jdk/jfr/Timespan.html).
var durations = map[string]int64{"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "m": 60e9, "h": 3600e9, "d": 86400e9}

func parseDuration(text string) (ns int64, ok bool) {
	number, unit, _ := strings.Cut(strings.TrimSpace(text), " ")
	n, err := strconv.ParseInt(number, 10, 64)
	each, known := durations[unit]
	if err != nil || !known || n < 0 || n > math.MaxInt64/each {
		return 0, false
	}
	return n * each, true
}

// emitSeries emits the figures over time.
func (p *parser) emitSeries() {
	add := func(name, unit string, points []point, first int) {
		slices.SortStableFunc(points, func(a, b point) int { return cmp.Compare(a.at, b.at) })
		s := evidence.Series{Subject: p.subject, Name: name, Unit: unit, Origin: p.b.Origin(0)}
		for _, x := range points[min(first, len(points)):] {
			if n := len(s.T); n == 0 || x.at > s.T[n-1] {
				s.T, s.V = append(s.T, x.at), append(s.V, x.value)
			}
		}
		if len(s.T) > 0 {
			p.b.Series(s)
		}
	}
	// A reading covers the time since the previous one, and a point holds until the next: each is placed at the beginning of its time.
	loads := make([]point, 0, len(p.loads))
	for i := 1; i < len(p.loads); i++ {
		loads = append(loads, point{p.loads[i-1].at, p.loads[i].value})
	}
	if n := len(p.loads); n > 1 {
		loads = append(loads, p.loads[n-1])
	}
	add(evidence.SeriesCPU, "percent", loads, 0)
	var rates []point
	for i := 1; i < len(p.throws); i++ {
		if a, b := p.throws[i-1], p.throws[i]; b.at > a.at && b.value >= a.value {
			rates = append(rates, point{a.at, (b.value - a.value) / (float64(b.at-a.at) / 1e9)})
		}
	}
	add(evidence.SeriesExceptions, "exceptions/s", rates, 0)
}

// describeProcess completes the subject from the recording.
func (p *parser) describeProcess() {
	p.b.Describe(p.subject, func(s *evidence.Subject) {
		about := p.about
		if about.CPUs == 0 {
			about.CPUs = p.cpus
		}
		if s.PID != 0 { // the recorder knows these better
			about.PID, about.Name, about.StartTime = s.PID, s.Name, s.StartTime
		}
		if len(s.Version) > len(about.Version) {
			about.Version = s.Version
		}
		if s.CPUs == 0 {
			s.CPUs = about.CPUs
		}
		s.PID, s.Name, s.StartTime, s.Version = about.PID, about.Name, about.StartTime, about.Version
	})
}
