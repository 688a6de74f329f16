package gcmonitor

import (
	"bytes"
	"math"
	"strconv"
)

// Lines of Cassandra's GCInspector, of versions 1.0 to 5.0:
//
//	… GCInspector.java:294 - G1 Old Generation GC in 8123ms.  G1 Old Gen: 8012233112 -> 7912233112; …
//	WARN  22:26:52 ConcurrentMarkSweep GC in 7913ms.  CMS Old Gen: 764411816 -> 763990120; …         on the terminal, as containers log it
//	… GCInspector.java (line 119) GC for ConcurrentMarkSweep: 2012 ms for 1 collections, 3812233112 used; max is 4095213568
//
// and of the JvmPauseMonitor of Hadoop, HBase and others, whose second line says whether there was a collection:
//
//	… Detected pause in JVM or host machine (eg GC): pause of approximately 12211ms
//	GC pool 'ConcurrentMarkSweep' had collection(s): count=1 time=11802ms
//	No GCs detected
//	… Detected pause in JVM or host machine approximately 93.265s without any GCs.
//
// and of Ignite's detector, which does not know what it was:
//
//	… Possible too long JVM pause: 923 milliseconds.
//
// Sources: https://github.com/apache/cassandra/blob/trunk/src/java/org/apache/cassandra/service/GCInspector.java,
// https://github.com/apache/hadoop/blob/trunk/hadoop-common-project/hadoop-common/src/main/java/org/apache/hadoop/util/JvmPauseMonitor.java.
var (
	inspector  = []byte("GCInspector.java")
	gcIn       = []byte(" GC in ")
	gcFor      = []byte("GC for ")
	paused     = []byte("pause of approximately ")
	detected   = []byte("Detected pause in JVM or host machine")
	poolHad    = []byte("had collection(s): count=")
	noneAtAll  = []byte("No GCs detected")
	newer      = []byte("host machine approximately ") // of Ratis
	withoutAny = []byte("without any GCs")
	tooLong    = []byte("Possible too long JVM pause: ") // of Ignite
	concurrent = []byte("ConcurrentMarkSweep")           // its time is mostly concurrent
)

// parseMilliseconds reads "8123ms" and "2012 ms" in ns; 0 for other text.
func parseMilliseconds(b []byte) int64 {
	n := 0
	for n < len(b) && n < 15 && b[n] >= '0' && b[n] <= '9' {
		n++
	}
	unit := int64(1e6)
	switch rest := bytes.TrimLeft(b[n:], " "); {
	case n == 0:
		return 0
	case bytes.HasPrefix(rest, []byte("ns")): // Alluxio's
		unit = 1
	case !bytes.HasPrefix(rest, []byte("ms")) && !bytes.HasPrefix(rest, []byte("milliseconds")):
		return 0
	}
	v, err := strconv.ParseInt(string(b[:n]), 10, 64)
	if err != nil || float64(v)*float64(unit) > maxDuration {
		return 0
	}
	return v * unit
}

// generationOf returns the generation of a collector, by the name of its bean.
func generationOf(name []byte) string {
	for _, old := range []string{"Old", "MarkSweep", "Tenured", "Major"} {
		if bytes.Contains(name, []byte(old)) {
			return "old"
		}
	}
	return "young"
}

// isOfCycles says whether a bean counts cycles that run beside the program, as those of ZGC and Shenandoah do: "ZGC Cycles", "ZGC Major Cycles"; their
// pauses are another bean's.
func isOfCycles(name []byte) bool { return bytes.HasSuffix(bytes.TrimSpace(name), []byte(" Cycles")) }

// collectors are the names of HotSpot's collectors, by their beans.
var collectors = []string{"ConcurrentMarkSweep", "ParNew", "G1 Young Generation", "G1 Old Generation", "G1 Concurrent GC", "PS MarkSweep", "PS Scavenge", "MarkSweepCompact", "Copy",
	"ZGC Cycles", "ZGC Pauses", "ZGC Major Cycles", "ZGC Major Pauses", "ZGC Minor Cycles", "ZGC Minor Pauses", "Shenandoah Cycles", "Shenandoah Pauses"}

// namesCollector says whether a line is GCInspector's without its name: the name of a collector stands before " GC in ", and sizes of pools behind.
func namesCollector(line []byte) bool {
	before, after, ok := bytes.Cut(line, gcIn)
	if !ok || !bytes.Contains(after, []byte("ms.  ")) || !bytes.Contains(after, []byte(" -> ")) {
		return false
	}
	for _, name := range collectors {
		if bytes.HasSuffix(before, []byte(name)) {
			return true
		}
	}
	return false
}

// emptiesSurvivor says whether a line shows that a survivor space was emptied: only a collection that stops the program does that, and no cycle of CMS.
func emptiesSurvivor(line []byte) bool {
	rest, ok := cutAfter(line, "Par Survivor Space: ")
	words := bytes.Fields(rest)
	return ok && len(words) >= 3 && string(words[1]) == "->" && string(words[0]) != "0" && string(bytes.TrimRight(words[2], ";,")) == "0"
}

// parseInspector reads a line of GCInspector. A cycle of CMS runs concurrently and shows no
// pause.
func parseInspector(line []byte) (e entry, ok bool) {
	if !bytes.Contains(line, inspector) && !namesCollector(line) {
		return e, false
	}
	e.before, e.after, e.capacity = math.NaN(), math.NaN(), math.NaN()
	e.count, e.mark = 1, fromInspector
	if i := bytes.Index(line, gcIn); i > 0 {
		before := line[:i]
		name := before[bytes.LastIndex(before, []byte("- "))+1:]
		e.took, e.generation = parseMilliseconds(line[i+len(gcIn):]), generationOf(name)
		e.beside = bytes.Contains(name, concurrent) && !emptiesSurvivor(line) || isOfCycles(name)
		e.within = e.took
		if e.generation == "old" {
			if rest, ok := cutAfter(line, "Old Gen: "); ok {
				e.parseSizes(rest)
			}
		}
		return e, e.took > 0
	}
	i := bytes.Index(line, gcFor)
	if i < 0 {
		return e, false
	}
	name, rest, ok := bytes.Cut(line[i+len(gcFor):], []byte(": "))
	if !ok {
		return e, false
	}
	e.took, e.generation, e.beside = parseMilliseconds(rest), generationOf(name), bytes.Contains(name, concurrent) || isOfCycles(name)
	e.within = e.took
	if n, ok := cutAfter(rest, "ms for "); ok {
		words := bytes.Fields(n)
		if len(words) > 0 {
			if v, err := strconv.ParseInt(string(words[0]), 10, 64); err == nil && v > 0 && v <= maxCount {
				e.count = v
			}
		}
	}
	return e, e.took > 0
}

// parseSizes reads "8012233112 -> 7912233112", bytes before and after.
func (e *entry) parseSizes(b []byte) {
	words := bytes.Fields(b)
	if len(words) < 3 || string(words[1]) != "->" {
		return
	}
	before, err := strconv.ParseFloat(string(words[0]), 64)
	then, err2 := strconv.ParseFloat(string(bytes.TrimRight(words[2], ";,")), 64)
	if err == nil && err2 == nil && before >= 0 && then >= 0 {
		e.before, e.after = before, then
	}
}

// parsePauseMonitor reads a line of a JvmPauseMonitor about a pause.
func parsePauseMonitor(line []byte) (e entry, ok bool) {
	if ms, ok := cutAfter(line, string(tooLong)); ok {
		e.before, e.after, e.capacity = math.NaN(), math.NaN(), math.NaN()
		e.took, e.count, e.mark = parseMilliseconds(ms), 1, fromDetector
		e.within = e.took
		return e, e.took > 0
	}
	if !bytes.Contains(line, detected) {
		return e, false
	}
	rest, ok := cutAfter(line, string(paused))
	if !ok {
		rest, ok = cutAfter(line, string(newer))
	}
	if !ok {
		return e, false
	}
	e.before, e.after, e.capacity = math.NaN(), math.NaN(), math.NaN()
	e.took, e.count, e.mark = parseMilliseconds(rest), 1, fromMonitor
	if e.took == 0 { // "93.118s"
		n, _, _ := bytes.Cut(rest, []byte(" "))
		if v := parseFigure(string(n), times); v > 0 && v <= maxDuration {
			e.took = int64(v)
		}
	}
	e.within = e.took
	return e, e.took > 0
}
