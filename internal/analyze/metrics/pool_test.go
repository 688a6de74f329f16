package metrics

import (
	"testing"

	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
)

func TestConnectionPools(t *testing.T) {
	x := newProcess("jvm")
	x.series(x.id, evidence.SeriesClientPoolUsed+":cache", 1, 2)
	x.series(x.id, evidence.SeriesClientPoolUsed+":db", 10, 10, 9, 10)
	x.series(x.id, evidence.SeriesClientPoolMax+":db", 10, 10, 10, 10)
	x.series(x.id, evidence.SeriesClientPoolWaits+":db", 4, 2, 0, 9)
	all := ConnectionPools(x.done(), x.id, Window{epoch, epoch + 3*sec})
	if len(all) != 2 {
		t.Fatalf("%+v", all)
	}
	db, cache := all[0], all[1]
	if db.Name != "db" || db.Readings != 3 || db.Most != 10 || db.Full != 2 || db.Waiting != 2 || db.Queue != 4 || !db.UsedUp() {
		t.Errorf("%+v", db)
	}
	if cache.Most != 2 || cache.Full != 0 || cache.UsedUp() {
		t.Errorf("%+v", cache)
	}
	near(t, "the size of a pool without that gauge", cache.Size, nan)
	near(t, "who waits for it", cache.Waiting, nan)
}

func TestThreadPool(t *testing.T) {
	read := func(x *process) *ThreadPool {
		b := x.done()
		return ThreadPoolOf(b, threads.Of(b, stacks), x.id, Window{})
	}
	p := read(newProcess("dotnet"))
	near(t, "the size of no pool", p.Size(), nan)
	near(t, "its queue", p.Queue.Mean(), nan)

	x := newProcess("dotnet")
	x.series(x.id, evidence.SeriesProcessThreads, 30, 31, 32)
	p = read(x)
	near(t, "its size by the process's threads", p.Size(), nan)
	if !p.Loose || p.Threads.Climb().To != 32 {
		t.Errorf("%+v", p)
	}

	x = newProcess("dotnet")
	for n, reason := range []string{Starvation, CooperativeBlocking, "Warmup"} {
		x.p.Interval(evidence.Interval{Subject: x.id, Kind: evidence.PoolAdjusted, Start: epoch + int64(n)*sec, End: epoch + int64(n)*sec, Cause: x.p.Name(reason),
			Extra: []evidence.Extra{{Key: evidence.PoolThreads, Value: float64(4 + n)}}})
	}
	p = read(x)
	near(t, "its size by the runtime's changes", p.Size(), 6)
	if p.Loose || p.Blocked() != 2 || p.Raised["Warmup"] != 1 {
		t.Errorf("%+v", p)
	}
}

func TestClimb(t *testing.T) {
	var none *Curve
	if none.Climb() != (Climb{}) || none.Known() || none.Span() != 0 {
		t.Error("nothing climbs")
	}
	near(t, "the end of nothing", none.Last(), nan)
	k := &Curve{T: []int64{0, sec, 2 * sec, 3 * sec, 13 * sec}, V: []float64{2, 4, 6, 8, 8}}
	if g := k.Climb(); g != (Climb{From: 2, To: 8, Rate: 2, Steps: 2}) {
		t.Errorf("%+v", g)
	}
}
