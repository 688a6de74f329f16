package threads

import (
	"cmp"
	"maps"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/base/threadstack"
)

// Background is threads that the program started itself, that serve no request, and that are busy in most samples: work handed to them may have
// to wait.
type Background struct {
	Root   string // the outermost of the program's own functions in which they began
	Lanes  []evidence.LaneID
	Names  []string // their names, sorted, where known
	Part   float64  // mean part of the samples in which they have work
	Doing  []Doing
	Origin evidence.Origin
}

// busyShare is the part of a thread's samples with work from which it counts as busy.
const busyShare = .75

// BackgroundThreads returns a process's background threads, grouped by root, the largest group first.
func (t *Threads) BackgroundThreads(s evidence.SubjectID) (all []Background) {
	type count struct{ work, looks int }
	lanes := make(map[evidence.LaneID]*count)
	begun := make(map[evidence.LaneID]string)
	serves := make(map[evidence.LaneID]bool)
	doing, origin := make(map[string]tally), make(map[string]evidence.Origin)
	looks := t.looks[s]
	for i := range looks {
		l := &looks[i]
		if lanes[l.Lane] == nil {
			lanes[l.Lane] = &count{}
		}
		c := lanes[l.Lane]
		c.looks++
		serves[l.Lane] = serves[l.Lane] || l.View.Request || l.View.Role != threadstack.Other
		if l.View.State == evidence.Idle || l.View.User < 0 || !hasWork(l.View.State) {
			continue
		}
		c.work++
		root := t.rootFunction(s, l)
		begun[l.Lane], origin[root] = root, l.Origin
		if doing[root] == nil {
			doing[root] = make(tally)
		}
		doing[root].countDoing(&l.View)
	}
	called := make(map[evidence.LaneID]string)
	for _, f := range t.b.Facts {
		if f.Subject == s && f.Key == evidence.FactThreadName {
			called[evidence.LaneID(f.Number)] = f.Value
		}
	}
	of := make(map[string]*Background)
	for _, lane := range slices.Sorted(maps.Keys(begun)) {
		c, root := lanes[lane], begun[lane]
		part := float64(c.work) / float64(c.looks)
		if serves[lane] || root == "" || c.looks < leastShown || part < busyShare {
			continue
		}
		g := of[root]
		if g == nil {
			g = &Background{Root: threadstack.Bare(threadstack.Short(root)), Doing: doing[root].listDoings(), Origin: origin[root]}
			of[root] = g
		}
		g.Part = (g.Part*float64(len(g.Lanes)) + part) / float64(len(g.Lanes)+1)
		g.Lanes = append(g.Lanes, lane)
		if name := called[lane]; name != "" {
			g.Names = append(g.Names, name)
		}
	}
	for _, root := range slices.Sorted(maps.Keys(of)) {
		all = append(all, *of[root])
	}
	sorting.Short(all, func(a, b Background) int { return cmp.Compare(len(b.Lanes), len(a.Lanes)) })
	return all
}
