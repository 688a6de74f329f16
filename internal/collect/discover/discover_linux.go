package discover

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/unstall/unstall/internal/base/sorting"
)

// lookTime is how long CPU use is measured. /proc counts it in steps of 10 ms, so the use of a core is known to 5 %.
const lookTime = 200 * time.Millisecond

// Discover finds the processes here with a known runtime, most CPU use first. It asks them nothing, except in the one case in the
// package's comment. It takes little more than [lookTime], and leaves out unstall itself.
func Discover(ctx context.Context, known []Recogniser) ([]Found, error) {
	return surveyProcesses(ctx, known, false)
}

// DiscoverAll also finds other processes that listen at a port or use CPU time. The kernel shows what any process waits for,
// whatever language it is written in.
func DiscoverAll(ctx context.Context, known []Recogniser) ([]Found, error) {
	return surveyProcesses(ctx, known, true)
}

func surveyProcesses(ctx context.Context, known []Recogniser, others bool) ([]Found, error) {
	ids, err := listPIDs()
	if err != nil {
		return nil, err
	}
	h := newHost(known)
	self := os.Getpid()
	type seen struct {
		Found
		cpu   time.Duration
		at    time.Time
		start uint64
	}
	var all []seen
	for _, id := range ids {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		p, err := h.openProcess(id)
		at := time.Now()
		if err != nil || id == self || p.isKernelThread() || p.hasEnded() {
			continue // the process has ended, or hidepid hides it
		}
		f := Found{Target: h.describeTarget(p)}
		if f.Runtime == "" && !others && !slices.ContainsFunc(known, func(r Recogniser) bool { return r.isSuggested(f.Name) }) {
			continue
		}
		f.Listens = h.listListeners(id)
		h.confirmRuntime(ctx, &f.Target)
		if f.Runtime == "" && !others {
			continue
		}
		h.findUnreadable(&f.Target)
		f.RSS = p.rss * int64(os.Getpagesize())
		f.fillReadsAndNext(h.describeWay(p, f.Target))
		all = append(all, seen{f, p.cpu, at, p.stat.start})
	}
	if len(all) == 0 {
		return nil, nil
	}
	wait := time.NewTimer(time.Until(all[len(all)-1].at.Add(lookTime)))
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	var found []Found
	for _, s := range all {
		now, err := readStat(s.PID)
		if err != nil || now.start != s.start || now.hasEnded() {
			continue
		}
		s.Look = time.Since(s.at)
		s.CPU = max(0, (now.cpu-s.cpu).Seconds()/s.Look.Seconds())
		if s.Runtime == "" && !s.listensOnPort() && s.CPU < atWork {
			continue // a shell, or one of many idle processes
		}
		found = append(found, s.Found)
	}
	sorting.Short(found, func(a, b Found) int {
		return cmp.Or(cmp.Compare(b.CPU, a.CPU), cmp.Compare(b.RSS, a.RSS), cmp.Compare(a.PID, b.PID))
	})
	return found, nil
}

// atWork is how many cores a process must use to count as busy.
const atWork = .1

// listensOnPort says whether a process listens on a port. Then it is a service, whatever language it is written in.
func (f *Found) listensOnPort() bool {
	return slices.ContainsFunc(f.Listens, func(l Listener) bool { return l.Addr.IsValid() })
}

// fillReadsAndNext fills in which data of the process can be read, and the command to type next. way says how its runtime can be
// asked, "" if it cannot.
func (f *Found) fillReadsAndNext(way string) {
	if way != "" {
		f.Reads = append(f.Reads, way)
	}
	f.Reads = append(f.Reads, "/proc")
	if !slices.Contains(f.Unreadable, "environ") {
		f.Reads = append(f.Reads, "environment")
	}
	f.Next = fmt.Sprintf("unstall %d", f.PID)
}
