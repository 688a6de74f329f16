package hotspot

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/unstall/unstall/internal/collect/probe"
)

// How often the threads are dumped. Dumps at regular times would see periodic work always or never. So the times between are random, from half
// to one and a half of their mean.
const (
	soonest   = 200 * time.Millisecond // least mean time between dumps
	mostLooks = 120                    // approximate dumps of a recording while little happens
	stirred   = 4                      // factor of the rate while more threads than usual run or wait for monitors
	costShare = 150                    // least pause after a dump, as a multiple of its cost
	unsettled = 2                      // dumps after which the cost is not known yet
	soon      = 20                     // pause after these, as a multiple of their apparent cost
	seldom    = 5 * time.Second
	lastLook  = 200 * time.Millisecond
)

// dumpThreads dumps all threads until the context ends. The cost of a dump is how long it stopped all threads, by the log of
// safepoints. If that log is missing, the answer's time is an upper bound, because the JVM answers when the dump is done. On a busy
// host answers sometimes take longer, so the quickest of the last three counts.
func (r *recording) dumpThreads(ctx context.Context) (failed error) {
	command := "Thread.print -e" // with each thread's CPU time: JDK 11
	usual := max(soonest, r.plan.For/mostLooks)
	var took []time.Duration
	var busy crowd
	var virtual virtuals
	var pool carriers
	defer func() {
		if err := pool.Close(); failed == nil {
			failed = err
		}
	}()
	told := false
	for looks := 1; ; looks++ {
		before, began := r.countStored(), time.Now()
		err := r.storeAnswer(ctx, "", "threads", command, &busy)
		if !time.Now().Before(r.end) {
			<-ctx.Done() // a connection with the same deadline may time out first
		}
		if ctx.Err() != nil {
			return nil // an answer that the end of the recording cut off
		}
		switch known := r.countStored() > before; {
		case err != nil:
			return err
		case !known && command != "Thread.print":
			command = "Thread.print"
			continue
		case !known:
			return nil
		}
		took = append(took[max(0, len(took)-2):], time.Since(began))
		if r.plan.Flight {
			if err := r.startFlight(ctx, ""); err != nil || ctx.Err() != nil {
				return err
			}
		}
		if busy.virtual {
			if err := r.askCarriers(ctx, &pool); err != nil || ctx.Err() != nil {
				return err
			}
			if err := r.dumpVirtualThreads(ctx, &virtual); err != nil || ctx.Err() != nil {
				return err
			}
			if virtual.unseen != "" {
				if err := r.startFlight(ctx, virtual.unseen); err != nil || ctx.Err() != nil {
					return err
				}
				if virtual.lack != nil && r.hasNoFlight() {
					virtual.lack()
					virtual.lack = nil
				}
			}
		}
		cost := slices.Min(took)
		if stopped := r.stops.meanStop(looks); stopped > 0 {
			cost = min(cost, stopped)
		}
		least := usual
		if busy.isCrowded() {
			least = max(soonest, usual/stirred)
		}
		apart := max(least, costShare*cost)
		if looks <= unsettled {
			apart = min(apart, max(least, soon*cost)) // the first dump took longer, and the log comes later
		}
		if apart >= seldom && apart > least {
			rare := fmt.Sprintf("a thread dump takes %v, so unstall takes one only about every %v", cost.Round(10*time.Millisecond), apart.Round(time.Second))
			if err := r.startFlight(ctx, rare); err != nil || ctx.Err() != nil {
				return err
			}
			if !told && r.hasNoFlight() {
				told = true
				r.warnOnce("%s", rare)
			}
		}
		if !probe.Wait(ctx, min(jitterAround(apart), max(time.Until(r.end)-lastLook, soonest/2))) {
			return nil
		}
	}
}

// jitterAround returns a random time between d/2 and 3d/2, d in the mean.
func jitterAround(d time.Duration) time.Duration { return d/2 + rand.N(d) }

// crowd counts in each dump the threads that run or wait for a monitor.
type crowd struct {
	now, last int
	before    []int
	virtual   bool // the program has virtual threads, which the dump lacks
}

// crowded is how many of the last dumps decide what is usual.
const crowded = 9

func (c *crowd) Write(p []byte) (int, error) {
	c.now += bytes.Count(p, []byte("java.lang.Thread.State: RUNNABLE")) + bytes.Count(p, []byte("java.lang.Thread.State: BLOCKED"))
	c.virtual = c.virtual || slices.ContainsFunc(ofVirtual, func(s []byte) bool { return bytes.Contains(p, s) })
	return len(p), nil
}

// ofVirtual are the traces of virtual threads in a dump, which lacks the threads themselves: the one that a carrier runs at that
// moment, the threads
// that wake them, and, if none is at work, those that wait for their sockets (sun.nio.ch.Poller: only virtual threads use it).
var ofVirtual = [][]byte{[]byte("Carrying virtual thread"), []byte(`"VirtualThread-un`), []byte(`"Read-Poller`), []byte(`"Write-Poller`), []byte(`"MasterPoller`)}

// isCrowded says whether in the last dump more threads than usual ran or waited for a monitor. It ends the count of that dump.
func (c *crowd) isCrowded() bool {
	c.last, c.now = c.now, 0
	c.before = append(c.before[max(0, len(c.before)-crowded+1):], c.last)
	sorted := slices.Sorted(slices.Values(c.before))
	return c.last > sorted[len(sorted)/2]
}

// stops is how long dumps stopped all threads, by this recording's log of safepoints.
type stops struct {
	mu  sync.Mutex
	sum time.Duration
	of  bool // the safepoint belongs to a dump: JDK 11
}

// dumping are the VM operations of Thread.print.
var dumping = [][]byte{[]byte("PrintThreads"), []byte("PrintJNI"), []byte("FindDeadlocks")}

// Write reads whole lines of the log:
//
//	[…][safepoint] Safepoint "PrintThreads", Time since last: 1 ns, …, Total: 460512 ns
//	[…][safepoint] Entering safepoint region: PrintThreads
//	[…][safepoint] Total time for which application threads were stopped: 0.0004605 seconds, …
func (s *stops) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for l := range bytes.Lines(p) {
		if _, name, ok := bytes.Cut(l, []byte("Entering safepoint region: ")); ok {
			s.of = isDump(name)
			continue
		}
		if _, rest, ok := bytes.Cut(l, []byte("] Safepoint \"")); ok && isDump(rest) {
			_, total, _ := bytes.Cut(rest, []byte("Total: "))
			s.addStop(total, " ns", "ns")
		} else if _, rest, ok := bytes.Cut(l, []byte("application threads were stopped: ")); ok && s.of {
			s.addStop(rest, " seconds", "s")
			s.of = false
		}
	}
	return len(p), nil
}

func isDump(name []byte) bool {
	return slices.ContainsFunc(dumping, func(d []byte) bool { return bytes.HasPrefix(name, d) })
}

func (s *stops) addStop(text []byte, until, unit string) {
	number, _, ok := bytes.Cut(text, []byte(until))
	if d, err := time.ParseDuration(string(number) + unit); ok && err == nil {
		s.sum += d
	}
}

// meanStop returns how long one of the dumps stopped all threads on average, 0 if it is unknown.
func (s *stops) meanStop(dumps int) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sum / time.Duration(dumps)
}
