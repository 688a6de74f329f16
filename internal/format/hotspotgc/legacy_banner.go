package hotspotgc

import (
	"bytes"
	"math"
	"strconv"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format/java"
)

// parseFlags reads what JDK 7u and 8 print at the head of a log: " -XX:InitialHeapSize=67092736
// -XX:+UseG1GC -XX:-PrintGC".
func (l *legacy) parseFlags(s []byte) {
	for _, f := range bytes.Fields(s) {
		name, ok := bytes.CutPrefix(f, []byte("-XX:"))
		if !ok || len(name) < 2 {
			continue
		}
		switch name[0] {
		case '+':
			l.addFlag(string(name[1:]), "true", 1)
			continue
		case '-':
			l.addFlag(string(name[1:]), "false", 0)
			continue
		}
		key, value, ok := bytes.Cut(name, []byte("="))
		if !ok || len(key) == 0 {
			continue
		}
		number := math.NaN()
		if v, err := strconv.ParseFloat(string(value), 64); err == nil {
			number = v
		}
		l.addFlag(string(key), string(value), number)
	}
}

func (l *legacy) addFlag(name, value string, number float64) {
	l.o.setFact(name, value, number, l.number)
	if number != 1 {
		return
	}
	switch name {
	case "UseConcMarkSweepGC":
		l.seen |= flagCMS
	case "UseParallelGC", "UseParallelOldGC":
		l.seen |= flagParallel
	case "UseSerialGC":
		l.seen |= flagSerial
	case "UseG1GC":
		l.seen |= flagG1
	}
}

// parseMemory reads "4k page, physical 4193296k(1247428k free), swap 8384728k(4916632k free)".
func (l *legacy) parseMemory(s []byte) {
	const word = "physical "
	i := bytes.Index(s, []byte(word))
	if i < 0 {
		return
	}
	s = s[i+len(word):]
	n := 0
	for n < len(s) && isDigit(s[n]) && n < 15 {
		n++
	}
	if v, ok := parseDigits(s[:n]); ok && n < len(s) && s[n] == 'k' {
		l.o.setFact(evidence.FactHostMemory, string(s[:n+1]), float64(v<<10), l.number)
	}
}

// foreground is a warning that CMS prints into a collection's line.
const foreground = "VM warning: bailing out to foreground collection"

// virtualMachine reads a banner from position i on, or a warning with the same beginning.
func (l *legacy) virtualMachine(text []byte, i int) int {
	if n := bytes.Index(text[i:], []byte(foreground)); n >= 0 {
		l.setKind(otherLine)
		return i + n + len(foreground)
	}
	if l.depth > 0 || bytes.Contains(text[i:], []byte(" warning: ")) {
		l.setKind(otherLine)
		return nextCollection(text, i)
	}
	l.setKind(bannerLine)
	l.parseVersion(text[i:])
	return len(text)
}

// parseVersion reads "64-Bit Server VM (25.20-b23) for windows-amd64 JRE (1.8.0_20-b26), built on …".
func (l *legacy) parseVersion(s []byte) {
	if i := bytes.Index(s, []byte(") for ")); i >= 0 {
		if system, _, ok := bytes.Cut(s[i+len(") for "):], []byte("-")); ok && systemName(system) {
			l.o.setFact(evidence.FactJVMSystem, string(system), math.NaN(), l.number)
		}
	}
	const word = "JRE ("
	i := bytes.Index(s, []byte(word))
	if i < 0 {
		return
	}
	s = s[i+len(word):]
	if i = bytes.IndexByte(s, ')'); i > 0 {
		l.o.setVersion(java.Version(string(s[:i])))
	}
}

// systemName says whether a word has only small letters: the name of an operating system.
func systemName(s []byte) bool {
	for _, c := range s {
		if c < 'a' || c > 'z' {
			return false
		}
	}
	return len(s) > 0 && len(s) < 12
}
