package metrics

import "github.com/unstall/unstall/internal/base/evidence"

// Who limits a process's memory.
const (
	Container = "container"
	OfHost    = "host"
)

// RoomOf is how much memory a process may have, bytes, and who says so: [Container], or
// [OfHost], whose memory it shares with others.
func RoomOf(b *evidence.Bundle, subject evidence.SubjectID) (v Value, who string) {
	if f, ok := b.Fact(subject, evidence.FactContainerLimit); ok {
		return Value{Number: f.Number, Origin: f.Origin, Watched: 1}, Container
	}
	if f, ok := b.Fact(-1, evidence.FactHostMemory); ok {
		return Value{Number: f.Number, Origin: f.Origin, Watched: 1}, OfHost
	}
	return Unknown, ""
}

// HostFree is how much memory of the host that was recorded could still be had, bytes.
func HostFree(b *evidence.Bundle, w Window) Value {
	for i := range b.Series {
		if s := &b.Series[i]; s.Name == evidence.SeriesHostMemoryAvailable {
			return Mean(b, s.Subject, s.Name, w)
		}
	}
	return Unknown
}
