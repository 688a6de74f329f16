package metrics

import "github.com/unstall/unstall/internal/base/evidence"

// What limits a process's memory.
const (
	Container = "container"
	OfHost    = "host"
)

// RoomOf returns how much memory a process may have, bytes, and what limits it: [Container], or [OfHost], whose memory it
// shares with others.
func RoomOf(b *evidence.Bundle, subject evidence.SubjectID) (v Value, who string) {
	if f, ok := b.Fact(subject, evidence.FactContainerLimit); ok {
		return Value{Number: f.Number, Origin: f.Origin, Watched: 1}, Container
	}
	if f, ok := b.Fact(-1, evidence.FactHostMemory); ok {
		return Value{Number: f.Number, Origin: f.Origin, Watched: 1}, OfHost
	}
	return Unknown, ""
}

// HostFree returns how much memory of the recorded host was still available, bytes.
func HostFree(b *evidence.Bundle, w Window) Value {
	for i := range b.Series {
		if s := &b.Series[i]; s.Name == evidence.SeriesHostMemoryAvailable {
			return Mean(b, s.Subject, s.Name, w)
		}
	}
	return Unknown
}
