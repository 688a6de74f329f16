package discover

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"time"
)

// lookTime is how long processor use is watched: /proc counts it in steps of
// 10 ms, so a core is told to 5 %.
const lookTime = 200 * time.Millisecond

// Discover finds the processes here whose runtime is known, most processor use
// first, without asking them anything but for the one case in the package's
// comment. It takes [lookTime] and little more, and leaves out unstall itself.
func Discover(ctx context.Context, known []Recogniser) ([]Found, error) {
	return surveyProcesses(ctx, known, false)
}

// DiscoverAll finds those, and of others the ones that listen at a port or work: the kernel
// tells of each process what it waits for, whatever it is written in.
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
			continue // it has ended since, or hidepid hides it
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
			continue // a shell, or one of the many that wait for something
		}
		found = append(found, s.Found)
	}
	slices.SortFunc(found, func(a, b Found) int {
		return cmp.Or(cmp.Compare(b.CPU, a.CPU), cmp.Compare(b.RSS, a.RSS), cmp.Compare(a.PID, b.PID))
	})
	return found, nil
}

// atWork is how many cores make a process one that does something, whatever it is.
const atWork = .1

// listensOnPort says whether a process listens on a port, and so is a service, whatever it is
// written in.
func (f *Found) listensOnPort() bool {
	return slices.ContainsFunc(f.Listens, func(l Listener) bool { return l.Addr.IsValid() })
}

// fillReadsAndNext fills in what can be read of the process and the command to type next. way is
// how its runtime can be asked, "" if it cannot.
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
