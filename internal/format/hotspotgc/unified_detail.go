package hotspotgc

import (
	"bytes"

	"github.com/unstall/unstall/internal/base/evidence"
)

// parseIndented reads lines that belong to the one above them.
func (u *unified) parseIndented(id int64, b []byte) {
	text := bytes.TrimLeft(b, " ")
	switch {
	case len(text) == 0:
		u.o.countIgnored(emptyLine)
	case bytes.HasPrefix(text, []byte("- age ")):
		u.parseAge(id, text)
	case bytes.HasPrefix(text, []byte("region size ")):
		if v, n := sizeOf(text[len("region size "):]); n > 0 {
			u.region, u.guess = v, false
		}
		u.o.countIgnored(heapLine)
	case bytes.HasPrefix(text, []byte("Capacity: ")):
		if id != unknown {
			u.parseRow(id, text, false)
		}
		u.o.countIgnored(detailLine)
	default:
		u.o.countIgnored(indentedKind(u.mark.tags, text))
	}
}

// belowKind returns the kind of an indented line if [unified.parseIndented] only counts lines like it.
func belowKind(tags, text []byte) (kind lineKind, ok bool) {
	if len(text) == 0 || text[0] == '-' || hasPrefix(text, "region size ") || hasPrefix(text, "Capacity: ") {
		return 0, false
	}
	return indentedKind(tags, text), true
}

// isIndented says whether a line without decorators is one that a collector prints below another.
func (u *unified) isIndented(b []byte) bool {
	text := bytes.TrimLeft(b, " ")
	if len(text) < len(b) && len(b)-len(text) <= 60 {
		return true
	}
	return bytes.HasPrefix(text, []byte("- age ")) || bytes.HasPrefix(text, []byte("====")) || len(text) == 0
}

// ageTable reads "Age table with threshold 15 (max threshold 15)", which the ages follow.
func (u *unified) ageTable(id int64, b []byte) bool {
	if v, n := parseInteger(b[len("Age table with threshold "):]); n > 0 {
		u.collectionOf(id).pending.tenuring = v
	}
	u.o.countIgnored(ageLine)
	return true
}

// parseTenuring reads "Desired survivor size 1703936 bytes, new threshold 15 (max threshold 15)".
func (u *unified) parseTenuring(id int64, b []byte) bool {
	if i := bytes.Index(b, []byte("new threshold ")); i >= 0 && id != unknown {
		if v, n := parseInteger(b[i+len("new threshold "):]); n > 0 {
			u.collectionOf(id).pending.tenuring = v
		}
	}
	u.o.countIgnored(ageLine)
	return true
}

// parseAge reads "- age   1:    1117960 bytes,    1117960 total": the last total is that of all.
func (u *unified) parseAge(id int64, b []byte) {
	u.o.countIgnored(ageLine)
	i := bytes.Index(b, []byte("bytes,"))
	if i < 0 {
		return
	}
	if v, n := parseInteger(bytes.TrimLeft(b[i+len("bytes,"):], " ")); n > 0 {
		u.collectionOf(id).pending.survivors = v
	}
}

// usings are the collectors' names in their JVMs' announcements.
var usings = []struct{ text, name string }{
	{"Serial", "Serial"}, {"Parallel", "Parallel"}, {"Concurrent Mark Sweep", "ParNew+CMS"}, {"G1", "G1"},
	{"The Z Garbage Collector", "ZGC"}, {"Shenandoah", "Shenandoah"}, {"Epsilon", "Epsilon"},
}

// parseUsing reads "Using G1".
func (u *unified) parseUsing(b []byte, line int64) bool {
	for _, x := range usings {
		if string(b[len("Using "):]) == x.text {
			u.seen = true
			u.o.setCollector(x.name, line)
			u.o.countIgnored(bannerLine)
			return true
		}
	}
	return false
}

// settings are lines of gc,init with the figure of a flag.
var settings = []struct{ label, fact string }{
	{"Heap region size: ", evidence.FactG1HeapRegionSize},
	{"Heap Region Size: ", evidence.FactG1HeapRegionSize},
	{"Heap Min Capacity: ", evidence.FactMinHeapSize},
	{"Heap Initial Capacity: ", evidence.FactInitialHeapSize},
	{"Heap Max Capacity: ", evidence.FactMaxHeapSize},
	{"Memory: ", evidence.FactHostMemory},
	{"Parallel Workers: ", evidence.FactParallelGCThreads},
	{"Concurrent Workers: ", evidence.FactConcGCThreads},
}

// parseSetting reads what a JVM prints about itself at its start.
func (u *unified) parseSetting(b []byte, line int64) bool {
	for _, s := range settings {
		rest, ok := bytes.CutPrefix(b, []byte(s.label))
		if !ok {
			continue
		}
		v, n := sizeOf(rest)
		if n == 0 {
			if v, n = parseInteger(rest); n == 0 {
				break
			}
		}
		if s.fact == evidence.FactG1HeapRegionSize {
			u.region, u.guess = v, false
		}
		u.o.setFact(s.fact, string(rest[:n]), float64(v), line)
		u.o.countIgnored(bannerLine)
		return true
	}
	switch {
	case bytes.HasPrefix(b, []byte("Version: ")):
		v := b[len("Version: "):]
		if i := bytes.IndexByte(v, ' '); i >= 0 {
			v = v[:i]
		}
		u.o.setVersion(string(v))
	case bytes.HasPrefix(b, []byte("CPUs: ")):
		if i := bytes.Index(b, []byte("total, ")); i >= 0 {
			if v, n := parseInteger(b[i+len("total, "):]); n > 0 {
				u.o.setCPUs(int(v))
			}
		}
	default:
		return false
	}
	u.o.countIgnored(bannerLine)
	return true
}
