package hotspotgc

import "bytes"

// textRule is the meaning of a line, or a part of one, outside of brackets.
type textRule struct {
	text string
	do   textAction
	kind lineKind
}

type textAction uint8

const (
	passRest textAction = iota // the rest of the line, up to a collection that another thread printed into it
	passWord                   // the text itself
	readStopped
	readRunning
	readDesired
	readFlags
	readMemory
	readVersion
	readOverhead // GC takes nearly all the time
	readLate     // a thread that stopped late, in the output of -XX:+SafepointTimeout
	readReason   // in angle brackets, JDK 1.3
	passSizes    // the text and the sizes behind it: of a generation, JDK 1.3
)

// textRules are the texts that collectors of all versions print outside of brackets.
var textRules = [...]textRule{
	{stoppedText, readStopped, safepointLine},
	{"Application time: ", readRunning, safepointLine},
	{"Desired survivor size ", readDesired, ageLine},
	{"CommandLine flags:", readFlags, bannerLine},
	{"Memory: ", readMemory, bannerLine},
	{"Java HotSpot(TM) ", readVersion, bannerLine},
	{"OpenJDK ", readVersion, bannerLine},
	{"Java(TM) ", readVersion, bannerLine},
	{"/proc/meminfo:", passRest, bannerLine},

	{"icms_dc=", passWord, detailLine},
	{"invoke=", passWord, detailLine},
	{"size=", passWord, detailLine},
	{"<", readReason, detailLine},
	{"CMS: abort preclean due to time", passWord, detailLine},
	{"CMS: abort preclean due to loop", passWord, detailLine},
	{"bailing out to foreground collection", passWord, detailLine},
	{"secs", passWord, detailLine},

	{"{Heap before ", passRest, heapLine},
	{"Heap after ", passRest, heapLine},
	{"Heap before ", passRest, heapLine},
	{"Heap", passRest, heapLine},
	{"}", passWord, heapLine},
	{"PSYoungGen ", passRest, heapLine},
	{"PSOldGen ", passRest, heapLine},
	{"ParOldGen ", passRest, heapLine},
	{"PSPermGen ", passRest, heapLine},
	{"Metaspace ", passRest, heapLine},
	{"class space ", passRest, heapLine},
	{"data space ", passRest, heapLine},
	{"eden space ", passRest, heapLine},
	{"eden [", passRest, heapLine},
	{"object [", passRest, heapLine},
	{"from [", passRest, heapLine},
	{"to   [", passRest, heapLine},
	{"from space ", passRest, heapLine},
	{"from ", passRest, heapLine},
	{"to ", passRest, heapLine},
	{"object space ", passRest, heapLine},
	{"the space ", passRest, heapLine},
	{"ro space ", passRest, heapLine},
	{"rw space ", passRest, heapLine},
	{"space ", passRest, heapLine},
	{"def new generation ", passRest, heapLine},
	{"par new generation ", passRest, heapLine},
	{"adaptive size ", passRest, heapLine},
	{"adaptive-size ", passRest, heapLine},
	{"tenured generation ", passRest, heapLine},
	{"Train generation ", passRest, heapLine},
	{"concurrent mark-sweep generation ", passRest, heapLine},
	{"concurrent-mark-sweep perm gen ", passRest, heapLine},
	{"compacting perm gen ", passRest, heapLine},
	{"garbage-first heap ", passRest, heapLine},
	{"region size ", passRest, heapLine},
	{"No shared spaces configured", passRest, heapLine},
	{"total ", passRest, heapLine},
	{"used ", passRest, heapLine},

	{"eden ", passSizes, detailLine},
	{"survivor ", passSizes, detailLine},
	{"tenured ", passSizes, detailLine},
	{"new ", passSizes, detailLine},
	{"permanent ", passSizes, detailLine},

	{"AdaptiveSizePolicy", passRest, statsLine},
	{"AdaptiveSizeStart", passRest, statsLine},
	{"AdaptiveSizeStop", passRest, statsLine},
	{"PSAdaptiveSize", passRest, statsLine},
	{"CMSAdaptiveSize", passRest, statsLine},
	{"CMSGCAdaptiveSize", passRest, statsLine},
	{"ASCMS", passRest, statsLine},
	{"avg_survived_padded_avg", passRest, statsLine},
	{"UseAdaptiveSizePolicy", passRest, statsLine},
	{"GC time is exceeding GCTimeLimit", readOverhead, statsLine}, // JDK 5 and 6
	{"GC time would exceed GCTimeLimit", readOverhead, statsLine},
	{"GC is exceeding overhead limit", readOverhead, statsLine}, // JDK 7 and 8
	{"GC would exceed overhead limit", readOverhead, statsLine},
	{"GC time ", passRest, statsLine},
	{"GC locker", passRest, statsLine},
	{"GC overhead limit", passRest, statsLine},
	{"GCTimeLimit", passRest, statsLine},
	{"Before GC", passRest, statsLine},
	{"After GC", passRest, statsLine},
	{"Statistics for ", passRest, statsLine},
	{"Total Free Space", passRest, statsLine},
	{"Max   Chunk Size", passRest, statsLine},
	{"Max Chunk Size", passRest, statsLine},
	{"Number of Blocks", passRest, statsLine},
	{"Av.  Block  Size", passRest, statsLine},
	{"Tree      Height", passRest, statsLine},
	{"CMS: Large ", passRest, statsLine},
	{"CMS: ", passRest, statsLine},
	{"Large ", passRest, statsLine},
	{"free=", passRest, statsLine},
	{"frag:", passRest, statsLine},
	{"size[", passRest, statsLine},
	{"demand:", passRest, statsLine},
	{"Collection triggered", passRest, statsLine},
	{"CMSCollector", passRest, statsLine},
	{"Not triggering concurrent cycle", passRest, statsLine},
	{"time_until_cms", passRest, statsLine},
	{"cms_time_", passRest, statsLine},
	{"cms_allocation_rate", passRest, statsLine},
	{"cms_consumption_rate", passRest, statsLine},
	{"contiguous_available", passRest, statsLine},
	{"initiatingPermOccupancy=", passRest, statsLine},
	{"Mark stack is full", passRest, statsLine},
	{"Setting abort in CSMarkOopClosure", passRest, statsLine},
	{"TLAB", passRest, statsLine},
	{"occupancy=", passRest, statsLine},
	{"initiatingOccupancy=", passRest, statsLine},
	{"promotion_rate", passRest, statsLine},
	{"promoted=", passRest, statsLine},
	{"metadata initialized", passRest, statsLine},
	{"cms_", passRest, statsLine},
	{"(re)scan", passRest, statsLine},
	{"DefNew::", passRest, statsLine},
	{"ParNew::", passRest, statsLine},
	{"Tenured: ", passRest, statsLine},
	{"TenuredGeneration::", passRest, statsLine},
	{"Finished ", passRest, statsLine},
	{"Survivor space ", passRest, statsLine},
	{"(cardTable:", passRest, statsLine},
	{"(0)", passRest, statsLine},

	// G1SummarizeRSetStats.
	{"Recent concurrent refinement statistics", passRest, statsLine},
	{"Cumulative RS summary", passRest, statsLine},
	{"Current rem set statistics", passRest, statsLine},
	{"Concurrent refinement ", passRest, statsLine},
	{"Concurrent RS threads times", passRest, statsLine},
	{"Concurrent RS processed ", passRest, statsLine},
	{"Concurrent sampling threads times", passRest, statsLine},
	{"Processed ", passRest, statsLine},
	{"Of ", passRest, statsLine},
	{"Did ", passRest, statsLine},
	{"Total per region rem sets", passRest, statsLine},
	{"Total heap region ", passRest, statsLine},
	{"Total heap region rem set sizes", passRest, statsLine},
	{"Static structures", passRest, statsLine},
	{"Conc RS threads times", passRest, statsLine},
	{"Max size region", passRest, statsLine},
	{"Region with largest ", passRest, statsLine},

	{"vmop", passRest, safepointLine},
	{"# SafepointSynchronize::begin: ", passRest, safepointLine},
	{"# \"", readLate, safepointLine},
	{"java.lang.Thread.State: ", passRest, safepointLine},
	{"Polling page always armed", passRest, safepointLine},
	{"Maximum sync time", passRest, safepointLine},
	{"Maximum vm operation time", passRest, safepointLine},

	{"num ", passRest, classLine}, // class histogram
	{"#instances", passRest, classLine},
	{"Total ", passRest, classLine},

	{"GC log file ", passRest, bannerLine},
	{"GC STATISTICS:", passRest, statsLine},
	{"Allocation pacing accrued:", passRest, statsLine},
	{"Cancelling GC: ", passRest, detailLine},
	{"Note: ", passRest, otherLine},
	{"This could be due to ", passRest, otherLine},
	{"Full thread dump ", passRest, otherLine},
}

// rulesBy holds the rules by their first byte.
var rulesBy = func() (by [256][]textRule) {
	for _, r := range textRules {
		by[r.text[0]] = append(by[r.text[0]], r)
	}
	return by
}()

// scanWords reads text outside of brackets.
func (l *legacy) scanWords(text []byte, i int) int {
	s := text[i:]
	for j := range rulesBy[s[0]] {
		r := &rulesBy[s[0]][j]
		if !hasPrefix(s, r.text) {
			continue
		}
		if r.do != readVersion {
			l.setKind(r.kind)
		}
		next := i + len(r.text)
		switch r.do {
		case passWord:
			return next
		case readReason:
			if n := bytes.IndexByte(text[next:], '>'); n >= 0 && l.depth > 0 {
				l.e.trigger = l.o.internText(text[next : next+n])
				return next + n + 1
			}
			l.strange = true
			return next
		case passSizes:
			if n := changeLen(text[next:]); n > 0 {
				return next + n
			}
			l.strange = true
			return next
		case readStopped:
			return l.scanStop(text, next)
		case readRunning:
			return l.scanRunning(text, next)
		case readDesired:
			l.parseTenuring(s)
			if n := behindAges(s); n > 0 {
				return i + n
			}
		case readFlags:
			l.parseFlags(text[next:])
			return len(text)
		case readOverhead:
			l.o.countOverhead(s, l.number)
			if n := overheadEnd(text[next:]); n > 0 {
				return next + n
			}
		case readLate:
			l.o.countLateThread(s, l.number)
			return len(text)
		case readMemory:
			l.parseMemory(text[next:])
			return len(text)
		case readVersion:
			return l.virtualMachine(text, next)
		}
		return nextCollection(text, next)
	}
	if l.depth == 0 && l.uptime != unknown && l.parseOperation(text, i) {
		return len(text)
	}
	if k, ok := knownMessage(s); ok { // Shenandoah writes the same text under both kinds of logging
		l.setKind(k)
		return nextCollection(text, i+1)
	}
	l.strange = true
	if l.depth == 0 {
		return nextCollection(text, i+1)
	}
	for i++; i < len(text) && text[i] != ' ' && text[i] != '[' && text[i] != ']'; i++ {
	}
	return i
}

// overheadEnd returns where the time of the collection stands behind the words on the overhead limit, 0 if it does not: a tool joined the two lines.
func overheadEnd(s []byte) int {
	n := bytes.Index(s, []byte(", "))
	if n < 0 || n+2 >= len(s) || s[n+2] < '0' || s[n+2] > '9' {
		return 0
	}
	return n
}

// behindAges returns where the sizes of the collection stand behind the ages of its survivors, 0 if they do not: somebody joined the lines.
func behindAges(s []byte) (at int) {
	for {
		n := bytes.Index(s[at:], []byte(": "))
		if n < 0 {
			return 0
		}
		if at += n + 2; changeLen(s[at:]) > 0 {
			return at
		}
	}
}

// changeLen returns the length of the sizes that s begins with: "25649K->0K(31616K)".
func changeLen(s []byte) int {
	_, n := parseSize(s)
	if n == 0 || !hasPrefix(s[n:], "->") {
		return 0
	}
	_, m := parseSize(s[n+2:])
	n += 2 + m
	if n < len(s) && s[n] == '(' {
		if _, m := parseSize(s[n+1:]); m > 0 {
			n += m + 2
		}
	}
	return min(n, len(s))
}

// otherBrackets are parts of collections that give nothing here, but identify their
// collection if its own bracket is not in the log.
var otherBrackets = [...]struct {
	text string
	kind lineKind
}{
	{"Rescan", detailLine}, {"weak refs processing", detailLine}, {"class unloading", detailLine}, {"scrub ", detailLine},
	{"YG occupancy", detailLine}, {"SoftReference", detailLine}, {"WeakReference", detailLine}, {"FinalReference", detailLine},
	{"PhantomReference", detailLine}, {"JNI Weak Reference", detailLine}, {"Finalize Marking", detailLine}, {"G1Ergonomics", statsLine},
	{"Unloading class ", classLine}, {"Loaded ", classLine}, {"Parallel Time", detailLine},
	{"Other", detailLine}, {"Clear CT", detailLine}, {"Code Root", detailLine}, {"GC Worker", detailLine}, {"Verify", detailLine},
	{"Evacuation Failure", detailLine}, {"String Dedup", detailLine}, {"Last Exec", detailLine},
	{"Ext Root Scanning", detailLine}, {"Update RS", detailLine}, {"Processed Buffers", detailLine}, {"Scan RS", detailLine},
	{"Object Copy", detailLine}, {"Termination", detailLine}, {"Choose CSet", detailLine}, {"Ref Proc", detailLine}, {"Ref Enq", detailLine},
	{"Free CSet", detailLine}, {"Humongous", detailLine}, {"Redirty", detailLine}, {"Mark Stack Scanning", detailLine}, {"SATB", detailLine},
	{"dirty klass scan", detailLine}, {"visit unhandled CLDs", detailLine}, {"root rescan", detailLine}, {"grey object rescan", detailLine},
	{"remark", detailLine}, {"Dynamic-linking ", classLine}, {"Registering JNI ", classLine}, {"ref-proc", detailLine}, {"Unloading", detailLine},
	{"Start", detailLine}, {"Closure", detailLine}, {"CMS-", detailLine}, {"Preclean ", detailLine},
}

// otherBracket says whether a bracket with this beginning is a part of a collection.
func otherBracket(s []byte) (lineKind, bool) {
	for i := range otherBrackets {
		if hasPrefix(s, otherBrackets[i].text) {
			return otherBrackets[i].kind, true
		}
	}
	return 0, false
}

// nextCollection returns where, from position i on, a collection or one of its phases begins that
// was printed into other text, with its stamps; the end of the text if there is none.
func nextCollection(text []byte, i int) int {
	for from := i; ; i++ {
		n := bytes.IndexByte(text[i:], '[')
		if n < 0 {
			return len(text)
		}
		i += n
		s := text[i+1:]
		if hasPrefix(s, "GC") && pauseFollows(s[2:]) || hasPrefix(s, "GC pause") || hasPrefix(s, "GC concurrent-") || hasPrefix(s, "GC remark") || hasPrefix(s, "GC cleanup") ||
			hasPrefix(s, "Full GC") || hasPrefix(s, "CMS-concurrent-") || hasPrefix(s, "Times:") {
			return stampsBefore(text, from, i)
		}
	}
}

// stampsBefore returns where the stamps before position i begin, from at the earliest.
func stampsBefore(text []byte, from, i int) int {
	start := i
	for i > from {
		switch c := text[i-1]; {
		case isDigit(c):
			if i-1 == from || !isDigit(text[i-2]) {
				start = i - 1
			}
		case c == ':' || c == ' ' || c == '.' || c == ',' || c == '-' || c == '+' || c == 'T' || c == 'Z':
		default:
			return start
		}
		i--
	}
	return start
}
