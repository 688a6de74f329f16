package threads

import (
	"cmp"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
)

// findServed finds the requests of a server that no table knows, one of the program's own: its code accepts connections, and starts
// threads, or gives tasks to a pool, that read from them. Whatever such a thread does except waiting for the next bytes is a request.
//
// The thread waits for the next bytes in the read nearest to its beginning: a read further in is for an answer that its request awaits.
func (t *Threads) findServed(s evidence.SubjectID) {
	looks := t.looks[s]
	t.markLoops(s)
	if !slices.ContainsFunc(looks, func(l Sample) bool { return l.View.Accepts }) {
		return
	}
	one := t.of[t.b.Subjects[s].Runtime].OnePool
	groups := make(map[string][]*Sample)
	for i := range looks {
		l := &looks[i]
		if v := &l.View; v.Accepts || v.Request || v.User < 0 || v.Role != threadstack.Other && v.Role != threadstack.Worker {
			continue
		}
		if root := t.rootFunction(s, l); root != "" {
			groups[root] = append(groups[root], l)
		}
	}
	most := 0
	for _, group := range groups {
		if slices.ContainsFunc(group, func(l *Sample) bool { return l.View.Reads }) {
			most = max(most, countLanes(group))
		}
	}
	for _, group := range groups {
		if countLanes(group) >= most/fewer {
			t.markServing(group, one)
		}
	}
	if slices.ContainsFunc(looks, func(l Sample) bool { return l.View.Request }) {
		return
	}
	for i := range looks { // its loop reads and hands to a pool, or the threads that wait to read are not seen
		if v := &looks[i].View; (v.Role == threadstack.Worker || v.Virtual && v.Role == threadstack.Other) && v.User >= 0 && !v.Library {
			v.Serve(one)
		}
	}
}

// fewer is the factor by which threads of the same beginning must outnumber others to serve connections: else their reads are of answers.
const fewer = 4

// countLanes returns how many threads were looked at.
func countLanes(group []*Sample) int {
	all := make(map[evidence.LaneID]bool)
	for _, l := range group {
		all[l.Lane] = true
	}
	return len(all)
}

// markServing marks the threads of the same beginning as a server's, if they read from connections. In a runtime with one pool they leave
// that pool: there a thread that waits for the next bytes would count as blocked, and other work does not wait for the program's own
// threads.
func (t *Threads) markServing(group []*Sample, one bool) {
	depth := func(l *Sample) int { return len(t.pathOf(l.Stack).frames) - l.View.User }
	var reads *Sample
	for _, l := range group {
		if l.View.Reads && (reads == nil || depth(l) < depth(reads)) {
			reads = l
		}
	}
	if reads == nil {
		return
	}
	at, least := t.userFunction(reads), depth(reads)
	var deeper []int
	for _, l := range group {
		if t.userFunction(l) != at || !l.View.Reads {
			deeper = append(deeper, depth(l))
		}
	}
	if len(deeper) == 0 || cmp.Compare(deeper[len(deeper)/2], least) < 0 {
		return
	}
	for _, l := range group {
		v := &l.View
		if v.Reads && t.userFunction(l) == at {
			if one && v.Role == threadstack.Worker {
				continue
			}
			v.State, v.Pattern, v.Wait = evidence.Idle, "", -1
			if !one {
				v.Role = threadstack.Worker
			}
			continue
		}
		v.Serve(one)
	}
}
