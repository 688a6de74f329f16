package hotspotgc

import (
	"strings"

	"github.com/unstall/unstall/evidence"
)

// emit writes an event as a row.
func (o *output) emit(e *event) {
	o.clock.pass(e.end)
	if o.events++; o.events >= o.room {
		o.makeRoom()
	}
	if e.kind == evidence.Safepoint {
		o.safepoints++
		o.hidden = o.hidden || collects(e.name)
	} else {
		o.collections++
	}
	process := o.clock.current
	if e.of > 0 {
		process = e.of - 1
	}
	o.clock.reached(process, e)
	x := evidence.Interval{Subject: o.process(process), Lane: evidence.AllLanes, Kind: e.kind, Start: e.start, End: max(e.start, e.end),
		Request: evidence.NoRequest, Cause: o.id(e.name), Origin: o.b.Origin(e.line)}
	switch e.kind {
	case evidence.AllocStall:
		x.Lane = e.lane
	case evidence.GCConcurrent:
		x.Lane = 0
	}
	o.extra = o.extra[:0]
	if e.kind == evidence.StopTheWorld {
		o.extra = append(o.extra, evidence.Extra{Key: evidence.PauseOf, Value: float64(e.pause)})
	}
	o.name(evidence.Trigger, e.trigger)
	o.name(evidence.Failure, e.failure)
	o.sizes(e.heap, evidence.HeapBefore, evidence.HeapAfter, evidence.HeapCapacity)
	o.sizes(e.young, evidence.YoungBefore, evidence.YoungAfter, evidence.YoungCapacity)
	o.sizes(e.old, evidence.OldBefore, evidence.OldAfter, evidence.OldCapacity)
	o.figure(evidence.MetaBefore, e.meta.before)
	o.figure(evidence.MetaAfter, e.meta.after)
	o.figure(evidence.CycleNumber, e.number)
	o.figure(evidence.HumongousBefore, e.humongousBefore)
	o.figure(evidence.HumongousAfter, e.humongousAfter)
	o.figure(evidence.SurvivorTotal, e.survivors)
	o.figure(evidence.TenuringThreshold, e.tenuring)
	o.figure(evidence.UserCPU, e.user)
	o.figure(evidence.SystemCPU, e.system)
	o.figure(evidence.RealTime, e.real)
	o.figure(evidence.ToSafepoint, e.toSafepoint)
	o.figure(evidence.YoungTime, e.youngTime)
	o.figure(evidence.WaitedWithin, e.within)
	x.Extra = o.extra
	o.b.Interval(x)
}

func (o *output) name(k evidence.Key, s string) {
	if s != "" {
		o.extra = append(o.extra, evidence.Extra{Key: k, Value: float64(o.id(s))})
	}
}

// id is the number of a name. There are few, and looking them up took as long as the rest
// of an event.
func (o *output) id(s string) evidence.NameID {
	if s == "" {
		return 0
	}
	r := &o.recent[(len(s)+int(s[0])+int(s[len(s)/2]))%len(o.recent)]
	if r.name != s {
		r.name, r.id = s, o.b.Name(s)
	}
	return r.id
}

func (o *output) figure(k evidence.Key, v int64) {
	if v != unknown {
		o.extra = append(o.extra, evidence.Extra{Key: k, Value: float64(v)})
	}
}

func (o *output) sizes(s sizes, before, after, capacity evidence.Key) {
	o.figure(before, s.before)
	o.figure(after, s.after)
	o.figure(capacity, s.capacity)
}

// makeRoom asks for as many rows as the rest of the log will give if it is like what was
// read. A thousand rows tell; a log of unknown size grows by doubling.
func (o *output) makeRoom() {
	const enough = 4096
	if o.size <= 0 || o.read <= 0 || o.events < enough {
		o.room = max(o.room*2, enough)
		return
	}
	rest := float64(max(0, o.size-o.read)) / float64(o.read) * float64(o.events)
	more := int64(min(rest*1.05, 1<<28)) + enough
	o.b.RoomForIntervals(int(more))
	o.room = o.events + more
}

// collects says whether an operation at a safepoint is a collection's. The names are those
// of vmOperations.hpp and of each collector's operations; a histogram is none of them
// (https://github.com/openjdk/jdk/blob/master/src/hotspot/share/runtime/vmOperation.hpp).
func collects(operation string) bool {
	for _, part := range []string{"Collect", "ParallelGC", "CMS_", "CGC_", "G1Pause", "ZMark", "XMark", "Shenandoah"} {
		if strings.Contains(operation, part) {
			return true
		}
	}
	return false
}
