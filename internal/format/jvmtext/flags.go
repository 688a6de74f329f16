package jvmtext

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/unstall/unstall/internal/base/evidence"
)

// tableLine is a row of the table of all flags.
type tableLine struct {
	name, value string
	set         bool
}

// tableRow reads "size_t MaxHeapSize = 67108864 {product} {command line}"; before JDK 9
// "uintx MaxHeapSize := 67108864 {product}", where := says that it was set.
func tableRow(l []byte) (r tableLine, ok bool) {
	kind, rest, ok := bytes.Cut(l[:min(len(l), 8192)], []byte(" "))
	if !ok {
		return r, false
	}
	switch string(kind) {
	case "bool", "int", "uint", "intx", "uintx", "uint64_t", "size_t", "double", "ccstr", "ccstrlist":
	default:
		return r, false
	}
	name, rest, ok := bytes.Cut(bytes.TrimLeft(rest, " "), []byte(" "))
	rest = bytes.TrimLeft(rest, " ")
	value, is := bytes.CutPrefix(rest, []byte("="))
	if !is {
		value, r.set = bytes.CutPrefix(rest, []byte(":="))
	}
	open := bytes.IndexByte(value, '{')
	if !ok || !is && !r.set || open < 0 || value[len(value)-1] != '}' || !isIdentifier(name) {
		return r, false
	}
	if class := value[open:]; bytes.Count(class, []byte("{")) > 1 { // with its origin
		r.set = !bytes.Contains(class, []byte("{default}"))
	}
	r.name, r.value = string(name), cleanValue(string(bytes.TrimSpace(value[:open])))
	return r, true
}

func isIdentifier(name []byte) bool {
	for _, c := range name {
		if c != '_' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return len(name) > 0 && len(name) < 100
}

func cleanValue(s string) string {
	if len(s) > maxValue {
		s = s[:maxValue]
	}
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "?")
	}
	return s
}

// parseOptions reads a command line's options: -XX:+UseG1GC -XX:MaxHeapSize=67108864 -Xmx64m.
func (p *parser) parseOptions(text string) {
	for _, o := range strings.Fields(text) {
		if x, ok := strings.CutPrefix(o, "-XX:"); ok {
			name, value, has := strings.Cut(x, "=")
			switch {
			case has:
			case strings.HasPrefix(x, "+"):
				name, value = x[1:], "true"
			case strings.HasPrefix(x, "-"):
				name, value = x[1:], "false"
			}
			if isIdentifier([]byte(name)) && value != "" {
				p.setFlag(name, setting{cleanValue(value), p.line, true})
			}
			continue
		}
		for _, s := range []struct {
			option string
			flags  []string
		}{{"-Xmx", []string{evidence.FactMaxHeapSize}}, {"-Xms", []string{evidence.FactInitialHeapSize}}, {"-Xmn", []string{evidence.FactNewSize, evidence.FactMaxNewSize}}, {"-Xss", []string{"ThreadStackSize"}}} {
			v, ok := strings.CutPrefix(o, s.option)
			n, sized := bytesOf(v)
			if !ok || !sized {
				continue
			}
			if s.option == "-Xss" { // the flag is in KB
				n /= 1024
			}
			for _, f := range s.flags {
				p.setFlag(f, setting{strconv.FormatFloat(n, 'f', -1, 64), p.line, true})
			}
		}
	}
}

// bytesOf reads a size in the form of options: 64m, 2G, 67108864.
func bytesOf(s string) (float64, bool) {
	unit := 1.0
	if s != "" {
		switch s[len(s)-1] | 0x20 {
		case 'k':
			unit = 1 << 10
		case 'm':
			unit = 1 << 20
		case 'g':
			unit = 1 << 30
		case 't':
			unit = 1 << 40
		}
		if unit > 1 {
			s = s[:len(s)-1]
		}
	}
	n, err := strconv.ParseUint(s, 10, 63)
	return float64(n) * unit, err == nil && n > 0
}

// parseNumber reads a flag's value as a number: 1 and 0 for switches, NaN for text.
func parseNumber(value string) float64 {
	switch value {
	case "true":
		return 1
	case "false":
		return 0
	}
	if n, ok := bytesOf(value); ok {
		return n
	}
	if f, err := strconv.ParseFloat(value, 64); err == nil && !math.IsInf(f, 0) {
		return f
	}
	return math.NaN()
}

// telling are parts of the names of flags that are worth keeping even with default values.
var telling = []string{"HeapSize", "HeapFreeRatio", evidence.FactNewSize, "NewRatio", "OldSize", evidence.FactSurvivorRatio, "Tenuring", "MetaspaceSize", "PermSize", "GCThreads", "RegionSize", "MaxGCPauseMillis",
	"OccupancyPercent", "OccupancyFraction", "UseG1GC", "UseZGC", "ZGenerational", "UseParallel", "UseSerialGC", "UseConcMarkSweepGC", "UseShenandoahGC", "UseEpsilonGC", "ShenandoahGCMode",
	"UseAdaptiveSizePolicy", "ExplicitGC", "ThreadStackSize", "PretenureSize", "ActiveProcessorCount", "DirectMemorySize", "UseTransparentHugePages", "UseLargePages", "AlwaysPreTouch", "UseContainerSupport", "MaxRAM",
	"GuaranteedSafepointInterval", "UseBiasedLocking", "CodeCacheSize"}

func isTelling(name string) bool {
	for _, t := range telling {
		if strings.Contains(name, t) {
			return true
		}
	}
	return false
}

func (p *parser) flagNumber(name string) (float64, bool) {
	if f, ok := p.flags[name]; ok {
		if n := parseNumber(f.value); !math.IsNaN(n) {
			return n, true
		}
	}
	return 0, false
}

// collectorName returns the collector by the flag that chose it, else by the text itself; ""
// unknown.
func (p *parser) collectorName() string {
	on := func(name string) bool {
		v, ok := p.flagNumber(name)
		return ok && v == 1
	}
	switch {
	case on("UseG1GC"):
		return "G1"
	case on("UseConcMarkSweepGC"):
		if v, ok := p.flagNumber("UseParNewGC"); ok && v == 0 {
			return "Serial+CMS"
		}
		return "ParNew+CMS"
	case on("UseParallelGC"), on("UseParallelOldGC"):
		return "Parallel"
	case on("UseZGC"):
		if p.isGenerational() {
			return "generational ZGC"
		}
		return "ZGC"
	case on("UseShenandoahGC"):
		if p.flags["ShenandoahGCMode"].value == "generational" {
			return "generational Shenandoah"
		}
		return "Shenandoah"
	case on("UseEpsilonGC"):
		return "Epsilon"
	case on("UseSerialGC"):
		return "Serial"
	}
	return p.said
}

// isGenerational says whether ZGC is generational: by a flag of JDK 21 and 22, by default in 23,
// and always from 24 on, which has no flag for it (https://openjdk.org/jeps/490).
func (p *parser) isGenerational() bool {
	if v, ok := p.flagNumber("ZGenerational"); ok {
		return v == 1
	}
	major, _, _ := strings.Cut(p.jvmVersion(), ".")
	n, err := strconv.Atoi(major)
	return err == nil && n >= 23
}

func (p *parser) jvmVersion() string {
	v := p.about.Version
	p.b.Describe(p.subject, func(s *evidence.Subject) {
		if len(s.Version) > len(v) {
			v = s.Version
		}
	})
	return v
}
