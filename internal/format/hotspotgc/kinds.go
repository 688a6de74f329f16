package hotspotgc

// lineKind says why a line gave no event of its own.
type lineKind uint8

// Kinds of known lines that give nothing, or only details of another line's event.
const (
	emptyLine     lineKind = iota
	bannerLine             // version, memory, command line: facts
	detailLine             // figures below a collection: phases, worker threads, references
	heapLine               // heap layout before, after, at exit
	ageLine                // ages of a survivor space
	startLine              // that a phase begins, or which tasks it will have
	statsLine              // ergonomics, statistics, TLABs, pacing
	classLine              // classes loaded and unloaded
	safepointLine          // about safepoints, without a time
	debugLine              // of the levels debug and trace, without a pause
	otherLine              // not of the JVM's logging
	numLineKinds
)

var lineKinds = [numLineKinds]string{"empty", "banner and flags", "details of a collection", "heap layout", "ages",
	"begin of a phase", "statistics and ergonomics", "classes", "safepoint details", "debug and trace", "other output"}
