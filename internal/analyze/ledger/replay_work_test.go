package ledger

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
)

// used adds the CPU time of the process: what its requests needed, and for the collector's
// pauses all processors.
func (q queueing) used(b *evidence.Bundle, factor float64) {
	r := rand.New(rand.NewPCG(q.seed, 78))
	var mean float64
	for range 10000 {
		mean += float64(q.demand(r)) / 10000
	}
	stopped := float64(q.pause) / float64(q.every)
	cores := float64(b.Requests.Len())*mean*factor/float64(queueSpan) + stopped*float64(q.servers)
	p := newSource(b, "host.txt", exact, 0)
	p.Series(evidence.Series{Name: "process.cpu", T: []int64{epoch, epoch + 2*queueSpan}, V: []float64{cores, cores}, Origin: p.Origin(1)})
}

// Near saturation no request runs far from a pause and its backlog. The CPU time of the
// process says what each needs.
func TestReplayNearSaturation(t *testing.T) {
	used := 0
	for seed := range uint64(6) {
		q := queueing{servers: 2, seed: seed, load: .74, demand: uniform(13*ms, 39*ms), pause: 60 * ms, every: 450 * ms, cpus: 2, slo: 150 * ms}
		b, truth := q.build()
		q.used(b, 1)
		l := one(t, b, Options{SLO: time.Duration(q.slo)})
		if !l.Replay.Used {
			t.Logf("seed %d: %s", seed, l.Replay.Why)
			continue
		}
		used++
		e := replayEntry(l)
		if e == nil || !e.Interval.Contains(float64(truth)) {
			t.Errorf("seed %d: %.0f ms were waited behind pauses, the ledger says %+v", seed, float64(truth)/1e6, e)
			continue
		}
		if off := float64(e.Ns-truth) / float64(truth); off < -.3 || off > .15 {
			t.Errorf("seed %d: %.0f %% off the truth of %.0f ms", seed, 100*off, float64(truth)/1e6)
		}
	}
	if used < 4 {
		t.Errorf("used in %d of 6 runs", used)
	}
}

// Where the service's own work fills the processors, requests queue for those: a pause costs
// its own time, and none of the queue.
func TestOverloadIsNoQueueBehindPauses(t *testing.T) {
	for seed := range uint64(4) {
		q := queueing{servers: 2, seed: seed, load: 1.02, demand: uniform(13*ms, 39*ms), pause: 20 * ms, every: 400 * ms, cpus: 2, slo: 150 * ms}
		b, _ := q.build()
		q.used(b, 1)
		l := one(t, b, Options{SLO: time.Duration(q.slo)})
		if l.Replay.Used || !strings.Contains(l.Replay.Why, "own work") {
			t.Errorf("seed %d: %+v", seed, l.Replay)
		}
		if e := replayEntry(l); e != nil {
			t.Errorf("seed %d: a queue behind pauses: %+v", seed, e)
		}
		var direct int64
		for _, row := range l.Slow {
			direct += l.stops.meanStopped(l.sentAt(row), b.Requests.End.At(row))
		}
		if spared := l.SavingsWithout(l.stops.toStops()); spared.Behind != nil || l.Charges[StopTheWorld] > direct {
			t.Errorf("seed %d: %d ns charged to pauses of %d, behind them %v", seed, l.Charges[StopTheWorld], direct, spared.Behind != nil)
		}
	}
}

func TestReplayNeedsTheProcessorsToBeShort(t *testing.T) {
	// Always near a pause: there is no request to draw demands from.
	q := queueing{servers: 2, seed: 1, load: .45, demand: uniform(13*ms, 39*ms), pause: 60 * ms, every: 130 * ms, cpus: 2, slo: 150 * ms}
	for factor, why := range map[float64]string{0: "CPU time of the process was not recorded", .3: "too little to replay a queue", .6: "no CPU demand near"} {
		b, _ := q.build()
		if factor > 0 {
			q.used(b, factor)
		}
		if l := one(t, b, Options{SLO: time.Duration(q.slo)}); l.Replay.Used || !strings.Contains(l.Replay.Why, why) {
			t.Errorf("%g of the CPU time: %+v, want %q", factor, l.Replay, why)
		}
	}
}

// What a generator sent late came late: it is no wait of the service's.
func TestReplayOfRequestsSentLate(t *testing.T) {
	q := queueing{servers: 1, seed: 1, load: .4, demand: constant(5 * ms), pause: 400 * ms, every: 3000 * ms, cpus: 1, slo: 30 * ms}
	b, truth := q.build()
	late := newBundle(evidence.Subject{CPUs: 1})
	log, gc := newSource(late, "rows.csv", exact, 0), newSource(late, "gc.log", exact, 0)
	for i := range b.Requests.Len() {
		x := b.Requests.Row(i)
		x.Origin = 0
		x.Intended, x.Start = x.Start-ms, 0
		x.Path = path(state(evidence.SentLate, ms), state(evidence.Unobserved, x.End-x.Intended-ms))
		log.Request(x)
	}
	for at := q.every; at < queueSpan; at += q.every {
		gc.pause(at, at+q.pause)
	}
	gc.watched(evidence.CoverGC, 0, queueSpan)
	l := one(t, late, Options{SLO: time.Duration(q.slo)})
	e := replayEntry(l)
	if !l.Replay.Used || e == nil || !e.Interval.Contains(float64(truth)) {
		t.Errorf("%+v: %+v, want %d", l.Replay, e, truth)
	}
	if l.Charges[GeneratorLag] <= 0 {
		t.Error("the generator's delay is nobody's")
	}
}

// Others take one of the host's two processors: the service queues for the other.
func TestReplayBesideOthersOnTheHost(t *testing.T) {
	used := 0
	for seed := range uint64(6) {
		q := queueing{servers: 1, seed: seed, load: .75, demand: uniform(13*ms, 39*ms), pause: 60 * ms, every: 450 * ms, cpus: 2, slo: 300 * ms}
		b, truth := q.build()
		q.used(b, 1)
		b.Subjects = append(b.Subjects, evidence.Subject{Kind: evidence.Host, CPUs: 2})
		mean, _ := b.SeriesOf(0, "process.cpu").Mean(epoch, epoch+queueSpan)
		p := newSource(b, "stat.txt", exact, 1)
		p.Series(evidence.Series{Subject: 1, Name: "host.cpu.busy", T: []int64{epoch, epoch + 2*queueSpan}, V: []float64{1 + mean, 0}, Origin: p.Origin(1)})
		l := one(t, b, Options{SLO: time.Duration(q.slo)})
		if !l.Replay.Used {
			t.Logf("seed %d: %s", seed, l.Replay.Why)
			continue
		}
		used++
		if e := replayEntry(l); e == nil || float64(e.Ns) < .6*float64(truth) || float64(e.Ns) > 1.2*float64(truth) {
			t.Errorf("seed %d: %.0f ms were waited behind pauses, the ledger says %+v", seed, float64(truth)/1e6, e)
		}
	}
	if used < 3 {
		t.Errorf("used in %d of 6 runs", used)
	}
}
