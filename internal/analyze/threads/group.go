package threads

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/base/threadstack"
	"github.com/unstall/unstall/internal/base/units"
)

// Summary is what the threads of a process did at one moment: of several looks, when most of them had work, because then it matters what they do with
// it. For a burst of many moments its mean decides.
type Summary struct {
	At      int64 // ns, 0 unknown
	Threads int   // threads seen at that moment
	Pool    int   // of Threads, those of the runtime's pool or of one of the program's
	Busy    int   // of the pool: not idle
	Blocked int   // of the pool: with work, but waiting
	Samples int   // in all looks

	Groups []Group // by Count, idle ones last
	Root   *Node   // as in Visual Studio's Parallel Stacks; its own frames are empty

	Rows []Sample // one for each thread
}

// Group is threads that do the same at the same place.
type Group struct {
	View   threadstack.View
	Stack  evidence.StackID // of the first of them
	Frames []string         // of it, innermost first, as the runtime prints them
	Kernel string           // the kernel function in which the group waits; "" unknown
	Lanes  []evidence.LaneID
	Count  int
	Pool   int // of them threads of the pool
	Seen   int // samples of it in all looks
	Origin evidence.Origin
}

// How far apart the looks of one burst may be, and how long it may last, in ns: a sampling profiler visits all threads within a few ms, and
// a burst of it lasts some 50 ms.
const (
	burstGap  = 200e6
	burstLong = 1e9
)

// Summary sums up the looks at a process; nil if there are none.
func (t *Threads) Summary(s evidence.SubjectID) *Summary {
	sum, known := t.summaries[s]
	if !known {
		sum = t.sumBusiest(s)
		if t.summaries != nil {
			t.summaries[s] = sum
		}
	}
	return sum
}

func (t *Threads) sumBusiest(s evidence.SubjectID) *Summary {
	var best []Sample
	most := -1.
	for _, moments := range t.Moments(s) {
		sum, top := 0, -1
		var busiest []Sample
		for _, looks := range moments {
			busy := 0
			for i := range looks {
				if looks[i].View.State != evidence.Idle {
					busy++
				}
			}
			if sum += busy; busy >= top {
				busiest, top = looks, busy
			}
		}
		if mean := float64(sum) / float64(len(moments)); mean >= most {
			best, most = busiest, mean
		}
	}
	if most < 0 {
		return nil
	}
	return t.sumRows(s, best)
}

// burstLength returns how many looks belong to the same burst as the first. A dump shows each thread once: where another file shows a thread again,
// another burst begins.
func burstLength(looks []Sample) int {
	in := make(map[evidence.LaneID]evidence.ArtifactID)
	for i := range looks {
		of, _ := looks[i].Origin.Artifact()
		if before, ok := in[looks[i].Lane]; ok && before != of && looks[i].Lane != 0 {
			return i
		}
		in[looks[i].Lane] = of
		if i == 0 {
			continue
		}
		a, _ := looks[i-1].Origin.Artifact()
		b, _ := looks[i].Origin.Artifact()
		if at := looks[i].Time; at-looks[i-1].Time > burstGap || at-looks[0].Time > burstLong || at == 0 && a != b {
			return i
		}
	}
	return len(looks)
}

// latestByLane returns the last look at each thread.
func latestByLane(looks []Sample) []Sample {
	at := make(map[evidence.LaneID]int)
	var out []Sample
	for i := range looks {
		l := &looks[i]
		if i, ok := at[l.Lane]; ok && l.Lane != 0 {
			out[i] = *l
			continue
		}
		at[l.Lane] = len(out)
		out = append(out, *l)
	}
	return out
}

// groupKey is what the threads of a group have in common.
type groupKey struct {
	role    threadstack.Role
	state   evidence.Kind
	pattern string
	pool    string
	owner   string
	place   string // where no owner is known: who called what waits
}

func (t *Threads) keyOf(l *Sample) groupKey {
	k := groupKey{l.View.Role, l.View.State, l.View.Pattern, l.View.Pool, l.View.Owner, ""}
	switch {
	case l.View.State == evidence.Idle:
		k.owner = ""
		if l.View.Role != threadstack.Worker { // each thread has a name of its own
			k.pool = ""
		}
	case k.owner == "":
		k.place = t.placeOf(l)
	}
	return k
}

// placeOf returns the function that called what waits; for a thread that does not wait the innermost function, unless only the kernel
// showed that it runs.
func (t *Threads) placeOf(l *Sample) string {
	if l.View.Kernel && l.View.State == evidence.Running {
		return ""
	}
	frames := t.b.Stacks.Frames(l.Stack)
	for i := l.View.Wait + 1; i < len(frames); i++ {
		if f := t.b.Names.Text(frames[i].Func); threadstack.IsFunction(f) {
			return f
		}
	}
	return ""
}

func (t *Threads) sumRows(s evidence.SubjectID, rows []Sample) *Summary {
	out := &Summary{Threads: len(rows)}
	seen := make(map[groupKey]int)
	for i := range t.looks[s] {
		l := &t.looks[s][i]
		seen[t.keyOf(l)] += l.Count
		out.Samples += l.Count
	}
	at := make(map[groupKey]int)
	for i := range rows {
		l := &rows[i]
		out.At = max(out.At, l.Time)
		k := t.keyOf(l)
		n, ok := at[k]
		if !ok {
			n = len(out.Groups)
			at[k] = n
			out.Groups = append(out.Groups, Group{View: l.View, Stack: l.Stack, Frames: t.framesOf(l.Stack), Kernel: t.b.Stacks.Info(l.Stack).Kernel, Seen: seen[k], Origin: l.Origin})
		}
		g := &out.Groups[n]
		g.Lanes = append(g.Lanes, l.Lane)
		g.Count++
		if l.View.Role == threadstack.Worker {
			g.Pool++
			out.Pool++
			if l.View.State != evidence.Idle {
				out.Busy++
			}
			if l.View.Waiting() {
				out.Blocked++
			}
		}
	}
	sorting.Short(out.Groups, func(a, b Group) int {
		return cmp.Or(cmp.Compare(a.sortRank(), b.sortRank()), cmp.Compare(b.Count, a.Count), cmp.Compare(a.View.Owner, b.View.Owner), cmp.Compare(a.View.Pattern, b.View.Pattern), cmp.Compare(a.View.Pool, b.View.Pool))
	})
	out.Rows = rows
	out.Root = t.buildTree(rows)
	return out
}

// InPool returns how many threads a pool with a name had.
func (s *Summary) InPool(name string) (n int) {
	for i := range s.Rows {
		if v := &s.Rows[i].View; v.Role == threadstack.Worker && v.Pool == name {
			n++
		}
	}
	return n
}

// Pools names the pool of the threads counted as a pool's: "the pool", or "pools" for a runtime that lets programs have several.
func (s *Summary) Pools() string {
	for i := range s.Rows {
		if v := &s.Rows[i].View; v.Role == threadstack.Worker && v.Pool != "" {
			return "pools"
		}
	}
	return "the pool"
}

// Idle reports whether a group has no work.
func (g *Group) Idle() bool { return g.View.State == evidence.Idle }

// sortRank sorts working groups before idle ones.
func (g *Group) sortRank() int {
	switch {
	case g.Idle():
		return 2
	case g.View.Role == threadstack.Main:
		return 1
	}
	return 0
}

// Who describes the threads: "37 of 41 pool threads", for one of several pools "37 of 200 http-nio-8080-exec threads".
func (g *Group) Who(s *Summary) string {
	switch {
	case g.View.Role == threadstack.Worker && g.View.Pool != "":
		return fmt.Sprintf("%d of %s", g.Count, formatCount(s.InPool(g.View.Pool), g.View.Pool+" thread"))
	case g.View.Role == threadstack.Worker:
		return fmt.Sprintf("%d of %s", g.Count, formatCount(s.Pool, "pool thread"))
	case g.View.Role == threadstack.Other && g.View.Pool != "":
		return formatCount(g.Count, g.View.Pool+" thread")
	case g.View.Role == threadstack.Other:
		return formatCount(g.Count, "thread")
	}
	return formatCount(g.Count, string(g.View.Role)+" thread")
}

// Sentence describes what the group's threads do: "37 of 41 pool threads · waiting for a task (.Result) · Shop!CartController.Get()".
func (g *Group) Sentence(s *Summary) string {
	doing := g.View.Doing()
	if g.View.Kernel && g.View.State == evidence.Running && g.Seen > 0 && s.Samples > 0 { // the moment that is shown is the busiest
		doing = fmt.Sprintf("on a CPU when sampled (%s of %s samples of all threads)", units.Count(g.Seen), units.Count(s.Samples))
	}
	parts := []string{g.Who(s), doing}
	if g.View.Owner != "" && g.View.State != evidence.Idle {
		owner := g.View.Owner
		if g.View.Library {
			owner += " (a library)"
		}
		parts = append(parts, owner)
	} else if g.View.Waiting() && g.View.Request && !g.View.Kernel && g.View.State != evidence.ThreadWait {
		parts = append(parts, "the waiting method is not on the stack")
	}
	return strings.Join(parts, " · ")
}

func formatCount(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Nameless is code that a stack does not name.
const Nameless = "unnamed code"
