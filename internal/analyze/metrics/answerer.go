package metrics

import (
	"net/netip"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Answerer is a program of this host that listens at an address: what its threads did, and those of its child processes.
type Answerer struct {
	Name   string
	Ran    float64 // threads on a CPU, on average
	Ready  float64 // threads that were ready and did not run, on average
	Origin evidence.Origin
}

// AnswererAt finds the recorded process that listens at an address, "127.0.0.1:5432" or "unix:/run/app.sock". It returns
// false where no process does, or where the ready time of its threads was not counted.
func AnswererAt(b *evidence.Bundle, address string, w Window) (a Answerer, ok bool) {
	if address == "" {
		return a, false
	}
	for i := range b.Series {
		s := &b.Series[i]
		own, is := strings.CutPrefix(s.Name, evidence.SeriesListenQueue+":")
		if !is || !coversAddress(own, address) {
			continue
		}
		for _, id := range withChildren(b, s.Subject) {
			ready := Mean(b, id, evidence.SeriesProcessRunDelay, w)
			if !ready.Known() {
				continue
			}
			ok = true
			a.Ready += ready.Number
			if ran := Mean(b, id, evidence.SeriesProcessCPU, w); ran.Known() {
				a.Ran += ran.Number
			}
			a.Origin = ready.Origin
		}
		if a.Name = b.Subjects[s.Subject].Name; ok {
			return a, true
		}
	}
	return a, false
}

// coversAddress reports whether a socket that listens at an address answers at another: at its own, or at all addresses of
// the host.
func coversAddress(listens, address string) bool {
	if strings.HasPrefix(address, "unix:") {
		return listens == address
	}
	own, err := netip.ParseAddrPort(listens)
	at, err2 := netip.ParseAddrPort(address)
	return err == nil && err2 == nil && own.Port() == at.Port() && (own.Addr().IsUnspecified() || own.Addr().Unmap() == at.Addr().Unmap())
}

// withChildren returns a process and its recorded child processes.
func withChildren(b *evidence.Bundle, of evidence.SubjectID) []evidence.SubjectID {
	all := []evidence.SubjectID{of}
	for i := range b.Facts {
		if f := &b.Facts[i]; f.Key == evidence.FactParent && f.Subject != of && int(f.Number) == b.Subjects[of].PID {
			all = append(all, f.Subject)
		}
	}
	return all
}
