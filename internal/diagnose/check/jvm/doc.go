// Package jvm holds the causes that lie in HotSpot's collectors, in how it stops threads, and in programs' use of both.
//
// Its opinion: a pause counts once, by its effect on requests under way. The queue behind it counts as far as a replay of the
// recorded arrivals reproduces what was observed (package ledger). The stopped share of wall time replaces neither: at 7 % of
// it a service near saturation may be slow or well.
//
// Sources: the collectors' own (https://github.com/openjdk/jdk/tree/master/src/hotspot/share/gc),
// the tuning guide (https://docs.oracle.com/en/java/javase/21/gctuning/), and the changes
// that advice depends on: CMS removed in 14 (https://openjdk.org/jeps/363), ParallelGC's and
// G1's defaults by server class (https://openjdk.org/jeps/248), container limits
// (https://bugs.openjdk.org/browse/JDK-8146115), metaspace that shrinks
// (https://openjdk.org/jeps/387), generational ZGC (https://openjdk.org/jeps/439).
package jvm

import (
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// isJVM says whether a subject is a JVM, or has at least a JVM's collector.
func isJVM(c *check.Case) bool {
	if c.Runtime() == platform.JVM.ID {
		return true
	}
	_, ok := c.Fact(evidence.FactCollector)
	return ok && c.Runtime() == ""
}

var unified = check.Threshold{Name: "JDK release that logs collections in another form", Value: 9, Unit: "count",
	Why: "what has the older form is of the one before at most", Source: "JEP 158"}

// featureRelease returns the feature release of a subject's JVM: 8 for "1.8.0_392" and for a log
// in the form of JDK 8 and before; 0 if unknown.
func featureRelease(c *check.Case) int {
	if n := namedRelease(c); n > 0 {
		return n
	}
	if _, old := c.Fact(evidence.FactLegacyLog); old {
		return unified.Int() - 1
	}
	return 0
}

// namedRelease returns the release that the evidence names, 0 if unknown.
func namedRelease(c *check.Case) int {
	text := strings.TrimLeftFunc(c.Bundle.Subjects[c.Subject].Version, func(r rune) bool { return r < '0' || r > '9' })
	text = strings.TrimPrefix(text, "1.")
	end := strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	if end >= 0 {
		text = text[:end]
	}
	n, _ := strconv.Atoi(text)
	return n
}

// logging says how to get a collector's log from a running JVM and from its start on.
var logging = []check.Need{
	{What: "a GC log from the same time (unstall switches it on while it records)", Command: "unstall record PID"},
	{What: "or start the JVM with (JDK 9 or later)", Command: "-Xlog:gc*,safepoint:file=gc.log:time,uptime,level,tags"},
	{What: "or, before JDK 9", Command: "-Xloggc:gc.log -XX:+PrintGCDetails -XX:+PrintGCDateStamps"},
}

// requestsEvidence asks for requests that pauses can be laid over.
var requestsEvidence = check.Need{What: "what it costs requests: an access log or a load generator's results from the same time"}
