package evidence

// Collection tells how a .NET collection ran beside the program.
type Collection uint8

// Kinds of collection, as GCStart reports them
// (https://learn.microsoft.com/dotnet/fundamentals/diagnostics/runtime-garbage-collection-events#gcstart_v2-event).
const (
	CollectionBlocking   Collection = iota // the program is stopped the whole time
	CollectionBackground                   // of generation 2, beside the program, with two short pauses
	CollectionForeground                   // of generation 0 or 1 during a background collection
	numCollections
)

var collectionNames = [numCollections]string{"blocking", "background", "foreground"}

func (c Collection) String() string {
	if c < numCollections {
		return collectionNames[c]
	}
	return "unknown"
}

// Generations of .NET by the numbers of its events: 0 to 2, then the heaps of large and of pinned objects, which are collected with
// generation 2.
const (
	Gen0 = iota
	Gen1
	Gen2
	LargeObjects  // of 85,000 bytes and more
	PinnedObjHeap // from .NET 5 on: objects allocated as pinned
	Generations   // number of generations
)

// GenerationNames are the usual names.
var GenerationNames = [Generations]string{"gen 0", "gen 1", "gen 2", "LOH", "POH"}

// In returns the key of a generation, for keys that exist [Generations] times.
func (k Key) In(generation int) Key { return k + Key(generation) }

// CondemnReason is one of the bits of [CondemnReasons]
// (https://github.com/dotnet/runtime/blob/main/src/coreclr/gc/gcrecord.h).
type CondemnReason uint8

var condemnReasons = [...]string{"induced, full", "no segment for young objects", "high memory load", "very high memory load", "little space for young objects", "card table inefficient",
	"young generations fragmented", "old generation fragmented", "old generation fragmented, little memory", "old generation fragmented, high memory load",
	"old generation fragmented, very high memory load", "generation 1 only, one in the background runs", "last try before out of memory", "generation 2 too small for a background collection",
	"induced, not forced", "before a background collection", "budget nearly used up", "unproductive full collections avoided", "provisional mode: full collection", "provisional mode: large objects",
	"provisional mode: generation 1", "hard limit: last try before out of memory", "hard limit: large objects fragmented", "hard limit: large objects to reclaim",
	"memory tuning: first", "memory tuning: blocking", "memory tuning: background", "memory tuning: postponed", "stress", "stress", "induced, aggressive"}

func (r CondemnReason) String() string {
	if int(r) < len(condemnReasons) {
		return condemnReasons[r]
	}
	return "unknown"
}

// CondemnReasonsOf returns the reasons in a figure of the key [CondemnReasons].
func CondemnReasonsOf(bits float64) (out []CondemnReason) {
	n := uint64(bits)
	for r := range CondemnReason(32) {
		if n&(1<<r) != 0 {
			out = append(out, r)
		}
	}
	return out
}
