package jvm

import (
	"fmt"
	"math"
	"strings"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// reason is which cause of its own a pause has; the others are judged by what they
// collect alone (jvm.young-gc-rate, jvm.full-gc). A pause has one: what is counted twice
// would be promised twice.
type reason uint8

const (
	ordinary    reason = iota
	requested          // System.gc() and tools: jvm.explicit-gc
	metadata           // class metadata: jvm.metaspace-gc
	fellBack           // CMS gave up beside the program: jvm.cms-concurrent-mode-failure
	evacuation         // G1 had no region to copy to: jvm.g1-evacuation-failure
	humongous          // G1, for an object of half a region or more: jvm.g1-humongous
	degenerated        // Shenandoah gave up beside the program: jvm.degenerated-gc
)

// Words of triggers, as gcCause.cpp has them, and JDK 6 before.
var (
	requestedBy = []string{"System.gc()", "Diagnostic Command", "Heap Inspection", "Heap Dump", "JvmtiEnv", "JvmtiTagObjects", "WhiteBox"}
	metadataBy  = []string{"Metadata GC", "Metadata Threshold", "Permanent Generation", "Last ditch collection"}
	fellBackBy  = []string{"concurrent mode", "promotion failed", "full promotion guarantee failed"}
	evacuatedBy = []string{"to-space", "evacuation fail"}
)

var sameStop = check.Threshold{Name: "time to the next collection of the same stop", Value: 20e6, Unit: "ns",
	Why: "a collection that did not free enough is followed at once", Source: "judgement: weighs the ms that HotSpot needs between collections of one stop against a program that allocates a young generation in that time"}

// pauseReasons returns the reason of each pause, by its row; ordinary pauses are left out. A pause
// that follows from another has the same reason: the full collection after an evacuation failure,
// the remark of a cycle that a humongous allocation began.
func (g *collector) pauseReasons() map[int]reason {
	if g.why != nil {
		return g.why
	}
	out := make(map[int]reason)
	g.why = out
	var cycle, last reason
	late := g.lateFullCollections()
	perm := math.NaN() // capacity of the permanent generation after the full collection before
	for i, p := range g.All {
		r := g.reasonOf(p)
		if p.Of == evidence.PauseFull {
			if g.isFullOfMetadata(p, perm) {
				r = metadata
			}
			perm = g.Get(p, evidence.MetaCapacity)
		}
		if r == ordinary && late[p.Row] {
			r = fellBack
		}
		wake := i > 0 && p.From-g.All[i-1].To < sameStop.Int64()
		switch {
		case r == ordinary && g.Is("G1") && p.Of == evidence.PauseFull:
			if wake {
				r = last
			}
			if r == ordinary && g.freedHumongous(p) {
				r = humongous
			}
		case r == ordinary && g.Is("G1") && (p.Of == evidence.PauseRemark || p.Of == evidence.PauseCleanup):
			r = cycle
		}
		if begins := g.NameOf(p); strings.Contains(begins, "Concurrent Start") || strings.Contains(begins, "nitial") {
			cycle = r
			if r == evacuation {
				cycle = ordinary // its cycle frees what could not be copied
			}
		}
		if r != ordinary {
			out[p.Row] = r
		}
		last = r
	}
	return out
}

// lateFullCollections returns the rows of CMS's full collections that came although it had begun
// cycles before, which came too late or freed no piece large enough: unified logs report the
// failure only at level debug. A full collection of a CMS that never began a cycle is merely one
// for lack of space (jvm.full-gc).
func (g *collector) lateFullCollections() map[int]bool {
	if !g.Is("CMS") {
		return nil
	}
	out := make(map[int]bool)
	begun := false
	for _, p := range g.All {
		begun = begun || p.Of == evidence.PauseInitialMark
		out[p.Row] = begun && p.Of == evidence.PauseFull
	}
	return out
}

var mostFreed = check.Threshold{Name: "part of what a collection freed that is most of it", Value: .5, Unit: "1",
	Why: "the larger part decides", Source: "arithmetic: half"}

// freedHumongous says whether most of what a collection freed were humongous objects: they had
// filled the heap, whatever allocation triggered it.
func (g *collector) freedHumongous(p metrics.Pause) bool {
	region, _ := g.regionSize()
	freed := region * (g.Get(p, evidence.HumongousBefore) - g.Get(p, evidence.HumongousAfter))
	return freed > 0 && freed >= mostFreed.Value*(g.Get(p, evidence.HeapBefore)-g.Get(p, evidence.HeapAfter))
}

// When a full collection is one for class metadata, though the log does not say so.
var (
	permFull = check.Threshold{Name: "part of the permanent generation in use from which it is full", Value: .98, Unit: "1",
		Why: "it grows to what it needs: what is left is less than the next class loader asks for", Source: "permGen.cpp of JDK 6 and 7: it grows by MinPermHeapExpansion"}
	oldEmpty = check.Threshold{Name: "part of the old generation in use below which no collection beside the program can have come too late", Value: .1, Unit: "1",
		Why: "hardly anything is in it", Source: "HotSpot: no collector begins a cycle by default below 45 % in use (InitiatingHeapOccupancyPercent of G1; 92 % for CMS)"}
	oldRoomy = check.Threshold{Name: "part of the old generation in use below which it is not what was full", Value: .5, Unit: "1",
		Why: "no collector runs because room is missing before it is half full", Source: "HotSpot: G1 begins a cycle at 45 % in use by default (InitiatingHeapOccupancyPercent), CMS at 92 %"}
)

// hasRoom says whether a full collection did not come for want of room, as less than a part of the old generation was in use, and the log tells no trigger
// (JDK 5 to 7). CMS calls each full collection a concurrent mode failure there, whatever it came for.
func (g *collector) hasRoom(p metrics.Pause, part float64) bool {
	if p.Of != evidence.PauseFull || g.TriggerOf(p) != "" || strings.Contains(strings.ToLower(g.FailureOf(p)), "promotion failed") {
		return false
	}
	return g.Get(p, evidence.OldBefore)/g.Get(p, evidence.OldCapacity) < part
}

// isFullOfMetadata says whether a full collection came because the permanent generation was full, though the log does not say so: it is, or was made larger
// than after the full collection before, and the old generation had room.
func (g *collector) isFullOfMetadata(p metrics.Pause, before float64) bool {
	capacity := g.Get(p, evidence.MetaCapacity)
	return g.hasRoom(p, oldRoomy.Value) && (g.Get(p, evidence.MetaBefore)/capacity >= permFull.Value || capacity > before)
}

func (g *collector) reasonOf(p metrics.Pause) reason {
	trigger, failure := g.TriggerOf(p), strings.ToLower(g.FailureOf(p))
	switch {
	case containsAny(trigger, requestedBy) || trigger == "System":
		return requested
	case containsAny(trigger, metadataBy):
		return metadata
	case g.Is("CMS") && containsAny(failure, fellBackBy) && !g.hasRoom(p, oldEmpty.Value):
		return fellBack
	case containsAny(failure, evacuatedBy) && !strings.HasSuffix(failure, ": pinned"): // a region that native code holds stays, which costs little
		return evacuation
	case strings.Contains(trigger, "Humongous"):
		return humongous
	case p.Of == evidence.PauseDegenerated || g.Is("Shenandoah") && p.Of == evidence.PauseFull:
		return degenerated
	}
	return ordinary
}

// pausesWith returns the pauses of the window that have a reason.
func (g *collector) pausesWith(r reason) metrics.Pauses {
	all := g.pauseReasons()
	return g.Pauses.Where(func(p metrics.Pause) bool { return all[p.Row] == r })
}

// leaveOpenIfUntriggered makes a verdict that rules out collections by their trigger inconclusive
// where the log does not give the trigger of full collections.
func (g *collector) leaveOpenIfUntriggered(v *check.Verdict, what string) {
	full := g.Pauses.Of(evidence.PauseFull).Where(func(p metrics.Pause) bool { return g.TriggerOf(p) == evidence.TriggerUntold })
	if len(full) == 0 || !v.RuledOut() {
		return
	}
	v.Rule, v.Needs = check.Untold, logging
	v.Summary = fmt.Sprintf("what triggered %s is unknown, so %s are possible", units.Plural(len(full), "full collection"), what)
}

// ordinaryPauses returns those pauses that have no reason of their own.
func (g *collector) ordinaryPauses(p metrics.Pauses) metrics.Pauses {
	all := g.pauseReasons()
	return p.Where(func(x metrics.Pause) bool { return all[x.Row] == ordinary })
}

var stoppedSpecial = check.Threshold{Name: "share of the time in pauses with a reason of their own, where no requests tell their cost", Value: .01, Unit: "1",
	Why: "such a pause need not be, so it is less than for collections that a program needs", Source: "PASTA (R. Wolff, Operations Research 30, 1982): 1 % of what arrives at random meets one: the p99"}
