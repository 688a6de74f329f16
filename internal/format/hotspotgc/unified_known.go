package hotspotgc

import "bytes"

// known are messages without an event, by their beginning, grouped by first letter.
var known = indexByFirst([]struct {
	words string
	kind  lineKind
}{
	{"Using ", detailLine}, {"Heap", heapLine}, {"Application time: ", safepointLine}, {"Leaving safepoint region", safepointLine},
	{"Archive regions: ", heapLine}, {"Total regions", heapLine}, {"Phase ", detailLine}, {"Marking Phase", detailLine}, {"Summary Phase", detailLine}, {"Adjust Roots", detailLine},
	{"Compaction Phase", detailLine}, {"Post Compact", detailLine}, {"Cleaned string and symbol table", detailLine},
	{"Trigger", statsLine}, {"Free: ", statsLine}, {"Free headroom", statsLine}, {"Pacer for ", statsLine}, {"Collectable Garbage", statsLine},
	{"Adaptive CSet", statsLine}, {"Evacuation Targets", statsLine}, {"Good progress", statsLine}, {"Bad progress", statsLine}, {"Failed to allocate", detailLine},
	{"Metaspace", heapLine}, {"MMU: ", statsLine}, {"Load: ", statsLine}, {"Mark: ", statsLine}, {"Mark Stack Usage", statsLine}, {"NMethods: ", statsLine},
	{"Small Pages", statsLine}, {"Medium Pages", statsLine}, {"Large Pages", statsLine}, {"Forwarding Usage", statsLine}, {"Relocation: ", statsLine},
	{"Min Capacity", heapLine}, {"Max Capacity", heapLine}, {"Soft Max Capacity", heapLine}, {"Soft: ", statsLine}, {"Weak: ", statsLine}, {"Final: ", statsLine},
	{"Phantom: ", statsLine}, {"Encountered references", statsLine}, {"Discovered ", statsLine}, {"Enqueued ", statsLine}, {"Clearing All SoftReferences", detailLine},
	{"Narrow klass", bannerLine}, {"CDS ", bannerLine}, {"Compressed ", bannerLine}, {"UseCompressedClassPointers", bannerLine}, {"Encoding Range", bannerLine}, {"Klass ", bannerLine},
	{"Protection zone", bannerLine}, {"Large Page Support", bannerLine}, {"NUMA Support", bannerLine}, {"NUMA Nodes", bannerLine}, {"Pre-touch", bannerLine}, {"Periodic GC", bannerLine},
	{"CardTable entry size", bannerLine}, {"Card Set ", bannerLine}, {"Alignments: ", bannerLine}, {"Initializing The Z", bannerLine}, {"Regions: ", bannerLine},
	{"Humongous ", bannerLine}, {"Max TLAB size", bannerLine}, {"TLAB Size", bannerLine}, {"GC threads", bannerLine}, {"GC Workers", bannerLine}, {"Heuristics", bannerLine},
	{"Shenandoah ", bannerLine}, {"Initialize Shenandoah", bannerLine}, {"Mode: ", bannerLine}, {"Safepointing mechanism", bannerLine}, {"Reference processing", bannerLine},
	{"Runtime Workers", bannerLine}, {"Address Space", bannerLine}, {"Medium Page Size", bannerLine}, {"Uncommit", bannerLine}, {"Initial Capacity", bannerLine},
	{"Min heap equals", bannerLine}, {"Consider ", bannerLine}, {"Reserved Space", bannerLine}, {"Stopping ZGC", bannerLine}, {"Heap address", bannerLine}, {"Available space on", bannerLine},
	{"Transfer ", statsLine}, {"Coalescing and filling", detailLine}, {"Cancel marking", detailLine}, {"Cancelled", detailLine}, {"Forward", detailLine}, {"Adjust Pointers", detailLine},
	{"Terminating old gc", detailLine}, {"Old-gen piggyback", statsLine}, {"Old-Gen ", statsLine}, {"Old regions ", statsLine}, {"Bootstrap cycle", detailLine}, {"FullGC done", detailLine},
	{"Allocated: ", statsLine}, {"Reclaimed: ", statsLine}, {"Available space", bannerLine}, {"Version: ", bannerLine}, {"Elastic TLABs", bannerLine}, {"GC Workers", bannerLine}, {"Soft Max", heapLine}, {"Resizeable heap", bannerLine}, {"ConcGCThreads: ", bannerLine}, {"Out Of Memory (", detailLine}, {"Serial collector GC overhead", bannerLine}, {"Resizable heap", bannerLine}, {"Non-resizable heap", bannerLine}, {"Using TLAB allocation", bannerLine}, {"Pre-Touch", bannerLine}, {"Workers: ", bannerLine},
	{"Age table", ageLine}, {"Age Table", ageLine}, {"New tenuring threshold", ageLine}, {"Start GC cycle", startLine}, {"Mark Start", startLine},
	{"At end of ", statsLine}, {"At start of ", statsLine}, {"After ", statsLine}, {"Chosen CSet", statsLine}, {"Forcing transfer", statsLine}, {"Planning to promote", statsLine}, {"Promotion failed, size", statsLine},
	{"Promotion failure size", detailLine}, {"Concurrent refinement", statsLine}, {"Concurrent Mark Abort", detailLine}, {"Pause Full (", startLine},
	{"garbage-first heap", heapLine}, {"def new generation", heapLine}, {"tenured generation", heapLine}, {"par new generation", heapLine}, {"concurrent mark-sweep generation", heapLine},
	{"PSYoungGen ", heapLine}, {"ParOldGen ", heapLine}, {"PSOldGen ", heapLine}, {"eden space", heapLine}, {"class space", heapLine}, {"ZHeap", heapLine},
	{"Class Histogram", classLine}, {"Unloading class", classLine}, {"Before GC RS summary", statsLine}, {"After GC RS summary", statsLine},
	{"Attempt heap expansion", statsLine}, {"Expand the heap", statsLine}, {"Shrink the heap", statsLine}, {"Attempt heap shrinking", statsLine}, {"Do scavenge", statsLine}, {"Scavenge ", statsLine},
	{"Request concurrent cycle", statsLine}, {"Initiate concurrent cycle", statsLine}, {"Do not request concurrent", statsLine}, {"MMU target violated", statsLine},
	{"Waiting for ", safepointLine}, {"Safepoint synchronization", safepointLine}, {"Safepoint at", safepointLine}, {"Allocation Stalls", statsLine},
	{"GC(", detailLine}, {"Cset", statsLine}, {"Live ", statsLine}, {"Status: cancelled", statsLine}, {"Mutator Allocation Rate", statsLine}, {"Class space", heapLine},
	{"Evacuate Collection Set", detailLine}, {"Pre Evacuate", detailLine}, {"Post Evacuate", detailLine}, {"Other: ", detailLine}, {"Merge Heap Roots", detailLine},
	{"Heap Dump Initiated", detailLine}, {"Heap dump", detailLine}, {"Old Generation Statistics", heapLine}, {"Young Generation Statistics", heapLine}, {"Total number of", statsLine},
})

func indexByFirst(all []struct {
	words string
	kind  lineKind
}) (t [256][]struct {
	words []byte
	kind  lineKind
}) {
	for _, k := range all {
		t[k.words[0]] = append(t[k.words[0]], struct {
			words []byte
			kind  lineKind
		}{[]byte(k.words), k.kind})
	}
	return t
}

// knownMessage says what kind of line a message without an event is.
func knownMessage(b []byte) (lineKind, bool) {
	for _, k := range known[b[0]] {
		if bytes.HasPrefix(b, k.words) {
			return k.kind, true
		}
	}
	return 0, false
}

// tagKinds are the kinds of lines whose tags suffice: those that -Xlog:gc*=debug
// and trace add change from release to release and have no pause.
var tagKinds = map[string]lineKind{
	"init": bannerLine, "coops": bannerLine, "cds": bannerLine, "os": bannerLine, "pagesize": bannerLine, "arguments": bannerLine, "container": bannerLine, "cpu": bannerLine, "numa": bannerLine,
	"phases": detailLine, "ref": detailLine, "task": detailLine, "reloc": detailLine, "nmethod": detailLine, "marking": detailLine, "start": startLine, "promotion": detailLine,
	"heap": heapLine, "exit": heapLine, "metaspace": heapLine, "region": heapLine, "liveness": heapLine, "compaction": detailLine, "verify": detailLine, "bot": detailLine, "page": detailLine,
	"age": ageLine, "survivor": ageLine,
	"ergo": statsLine, "stats": statsLine, "tlab": statsLine, "plab": statsLine, "refine": statsLine, "remset": statsLine, "ihop": statsLine, "mmu": statsLine, "load": statsLine, "cset": statsLine,
	"alloc": statsLine, "director": statsLine, "humongous": statsLine, "free": statsLine, "freelist": statsLine, "workgang": statsLine, "task_stats": statsLine, "periodic": statsLine, "service": statsLine,
	"stringtable": detailLine, "stringdedup": detailLine, "symboltable": detailLine, "barrier": detailLine, "jni": detailLine, "oops": detailLine, "scavenge": detailLine, "sweep": detailLine, "thread": detailLine, "cause": detailLine, "pacing": statsLine,
	"class": classLine, "unload": classLine, "classhisto": classLine, "oopmap": classLine, "module": classLine, "membername": classLine,
	"safepoint": safepointLine, "stats_safepoint": safepointLine, "cleanup": safepointLine, "vmthread": safepointLine, "vmoperation": safepointLine, "handshake": safepointLine, "biasedlocking": safepointLine, "monitorinflation": safepointLine,
	"startuptime": bannerLine, "logging": bannerLine, "perf": bannerLine, "nmt": bannerLine, "codecache": bannerLine, "jit": bannerLine,
}

// knownTags returns the kind of a line by the last of its tags that has one.
func knownTags(tags []byte) (kind lineKind, ok bool) {
	for len(tags) > 0 {
		tag := tags
		if i := bytes.IndexByte(tags, ','); i >= 0 {
			tag, tags = tags[:i], tags[i+1:]
		} else {
			tags = nil
		}
		if k, known := tagKinds[string(tag)]; known {
			kind, ok = k, true
		}
	}
	return kind, ok
}

// indentedKind says what kind an indented line is.
func indentedKind(tags, text []byte) lineKind {
	if k, ok := knownTags(tags); ok {
		return k
	}
	if k, ok := knownMessage(text); ok {
		return k
	}
	return detailLine
}
