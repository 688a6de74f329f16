package metrics

import (
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
)

// ListenQueue is the queue at one address that a process listens at.
type ListenQueue struct {
	Address string // "0.0.0.0:8080"
	Waiting *Curve // connections that wait for accept
	Unread  *Curve // accepted connections with bytes that the program has not read; nil: not known
	Backlog *Curve // the length that the kernel allows; nil: not known
}

// Most returns the largest number of waiting connections.
func (q *ListenQueue) Most() float64 { return maxOf(q.Waiting) }

// MostUnread returns the largest number of unread connections.
func (q *ListenQueue) MostUnread() float64 { return maxOf(q.Unread) }

func maxOf(c *Curve) float64 {
	if !c.Known() {
		return 0
	}
	return slices.Max(c.V)
}

// ListenQueues returns the queues of a process's sockets, most waiting first, without those on which its runtime answers tools. Connections in the kernel's queue, and
// connections that no process has accepted, are the same ones: the larger count is taken.
func ListenQueues(b *evidence.Bundle, subject evidence.SubjectID) (all []ListenQueue) {
	for i := range b.Series {
		s := &b.Series[i]
		address, ok := strings.CutPrefix(s.Name, evidence.SeriesListenQueue+":")
		if !ok || s.Subject != subject || len(s.T) == 0 || evidence.IsDiagnosticSocket(address) || slices.ContainsFunc(all, func(q ListenQueue) bool { return q.Address == address }) {
			continue
		}
		q := ListenQueue{Address: address, Waiting: CurveOf(b, subject, s.Name, Whole), Backlog: CurveOf(b, subject, evidence.SeriesListenBacklog+":"+address, Whole)}
		if unread := CurveOf(b, subject, evidence.SeriesUnreadConnections+":"+address, Whole); unread.Known() {
			q.Unread = unread
		}
		if other := CurveOf(b, subject, evidence.SeriesUnacceptedConnections+":"+address, Whole); other.Known() && slices.Equal(other.T, q.Waiting.T) {
			v := slices.Clone(q.Waiting.V)
			for k := range v {
				v[k] = max(v[k], other.V[k])
			}
			q.Waiting = &Curve{T: q.Waiting.T, V: v, Origin: q.Waiting.Origin}
		}
		all = append(all, q)
	}
	sorting.Short(all, func(x, y ListenQueue) int {
		switch a, b := x.Most()+x.MostUnread(), y.Most()+y.MostUnread(); {
		case a > b:
			return -1
		case a < b:
			return 1
		}
		return strings.Compare(x.Address, y.Address)
	})
	return all
}
