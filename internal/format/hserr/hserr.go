// Package hserr reads the report that HotSpot writes when it crashes (hs_err_pid*.log), of JDK 6 to 25: the JVM's version and resources.
// It ignores the reason of the crash.
//
//	# JRE version: OpenJDK Runtime Environment (8.0_252-b09) (build 1.8.0_252-b09)
//	jvm_args: -Xms1g -Xmx1g -XX:+UseParallelGC
//	CPU:total 4 (initial active 4) …
//	Memory: 4k page, physical 8167848k(201120k free), swap 0k(0k free)
//	elapsed time: 81223.113 seconds (0d 22h 33m 43s)
//
// Source: VMError::report (https://github.com/openjdk/jdk/blob/master/src/hotspot/share/utilities/vmError.cpp). Of the command line only
// options of the JVM are kept.
package hserr

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/redact"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/java"
)

// Format reads such a report.
var Format = format.Format{
	Name:    "hserr",
	About:   "reports of crashes of HotSpot (hs_err_pid*.log): version, options, CPUs and memory",
	Whole:   true,
	Moments: true,
	Match:   matchHead,
	Parse:   parseArtifact,
}

func matchHead(head []byte) format.Confidence {
	if bytes.Contains(head, []byte("# A fatal error has been detected by the Java Runtime Environment")) ||
		bytes.Contains(head, []byte("# There is insufficient memory for the Java Runtime Environment to continue")) {
		return format.Sure
	}
	return format.SureIf(bytes.Contains(head, []byte("VM Arguments:")) && bytes.Contains(head, []byte("jvm_args: ")) && bytes.Contains(head, []byte("vm_info: ")))
}

const mostText = 4096

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	subject := b.Subject(evidence.Subject{Kind: evidence.Process, Runtime: "jvm"})
	*b.Clock() = evidence.Clock{Name: "moment of the crash", Error: evidence.Unanchored}
	table := evidence.Table{Title: "crash of the JVM", Columns: []string{"", ""}}
	tell := func(what, value string) {
		if len(table.Rows) < 40 {
			table.Rows = append(table.Rows, []string{what, string(redact.Line([]byte(value[:min(len(value), 300)])))})
		}
	}
	lines := int64(0)
	err := a.Lines(func(l format.Line) bool {
		if l.Number&0xfff == 0 && ctx.Err() != nil {
			return false
		}
		text := strings.TrimSpace(string(l.Text[:min(len(l.Text), mostText)]))
		value := func(prefix string) (string, bool) {
			v, ok := strings.CutPrefix(text, prefix)
			return strings.TrimSpace(v), ok
		}
		fact := func(key, shown string, v float64) {
			b.FactAt(subject, key, shown, v, l.Number)
		}
		if v, ok := value("# JRE version:"); ok {
			lines++
			tell("version", v)
			if i := strings.LastIndex(v, "(build "); i >= 0 {
				if n := java.Version(v[i:]); n != "" {
					b.Describe(subject, func(s *evidence.Subject) { s.Version = n })
				}
			}
		} else if v, ok := value("#  SIG"); ok {
			lines++
			tell("signal", "SIG"+v)
		} else if strings.HasPrefix(text, "# There is insufficient memory") || strings.HasPrefix(text, "#  Out of Memory Error") || strings.HasPrefix(text, "# Native memory allocation") {
			lines++
			tell("error", strings.TrimLeft(text, "# "))
		} else if v, ok := value("jvm_args:"); ok {
			lines++
			emitOptions(v, fact, tell)
		} else if v, ok := value("CPU:total "); ok {
			lines++
			first, _, _ := strings.Cut(v, " ")
			if n, err := strconv.Atoi(first); err == nil && n > 0 && n < 1<<16 {
				b.Describe(subject, func(s *evidence.Subject) { s.CPUs = n })
				tell("CPUs", first)
			}
		} else if v, ok := value("Memory:"); ok {
			lines++
			tell("memory", v)
			if _, rest, ok := strings.Cut(v, "physical "); ok {
				k, _, _ := strings.Cut(rest, "k")
				if n, err := strconv.ParseFloat(k, 64); err == nil && n > 0 {
					fact(evidence.FactHostMemory, k+" KiB", n*1024)
				}
			}
		} else if v, ok := value("elapsed time:"); ok {
			lines++
			tell("it ran for", v)
		} else if v, ok := value("VM state:"); ok {
			lines++
			tell("state", v)
		} else if v, ok := value("load average:"); ok {
			lines++
			tell("load average", v)
		} else if v, ok := value("Event: "); ok && strings.Contains(v, "GC") {
			lines++
		}
		return true
	})
	if err := format.EndReading(ctx, b, err, lines > 0, "the report", "hserr: nothing of the JVM stands in it"); err != nil {
		return err
	}
	b.Table(table)
	b.Warnf(0, "a report of a crash tells what the JVM was and had at that moment, and not how slow it was: add the GC log of the time before it")
	return nil
}

// emitOptions writes options of the JVM, sizes and switches, as facts and as a row.
func emitOptions(args string, fact func(string, string, float64), tell func(string, string)) {
	var kept []string
	for _, f := range strings.Fields(args) {
		if !strings.HasPrefix(f, "-X") || strings.ContainsAny(f, "/\\@") {
			continue
		}
		if kept = append(kept, f); len(kept) == 100 {
			break
		}
		for prefix, key := range map[string]string{"-Xmx": evidence.FactMaxHeapSize, "-XX:MaxHeapSize=": evidence.FactMaxHeapSize, "-Xms": evidence.FactInitialHeapSize, "-XX:InitialHeapSize=": evidence.FactInitialHeapSize} {
			if v, ok := strings.CutPrefix(f, prefix); ok {
				if n := bytesOf(v); n > 0 {
					fact(key, fmt.Sprintf("%.0f", n), n)
				}
			}
		}
		for flag, name := range map[string]string{"-XX:+UseG1GC": "G1", "-XX:+UseParallelGC": "Parallel", "-XX:+UseSerialGC": "Serial", "-XX:+UseZGC": "ZGC", "-XX:+UseShenandoahGC": "Shenandoah", "-XX:+UseConcMarkSweepGC": "ParNew+CMS"} {
			if f == flag {
				fact(evidence.FactCollector, name, 0)
			}
		}
	}
	tell("options", strings.Join(kept, " "))
}

// bytesOf reads "512m", "4g"; 0 for other text.
func bytesOf(s string) float64 {
	if s == "" {
		return 0
	}
	unit := 1.
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
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || v <= 0 || v > 1e15 {
		return 0
	}
	return v * unit
}
