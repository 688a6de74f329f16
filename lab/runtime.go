package lab

import (
	"context"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/lab/service"
)

// Runtime is the runtime of a lab's services, [Go], [Dotnet] or [JVM]: it builds and starts
// them, and reads their figures.
type Runtime interface {
	// buildPrograms builds what the variants need.
	buildPrograms(ctx context.Context, l *Lab, say func(string)) (*programs, error)
	// readState returns the state of a process without its usage of the host.
	readState(one *Service) (state, error)
	// figuresBetween returns the figures of a service between two instants, by the names of
	// package compare.
	figuresBetween(a, b state) map[string]float64
	// captureFigures returns figures of the capture that the diagnosis does not have, by the
	// names of predictions.
	captureFigures(b *evidence.Bundle, about evidence.SubjectID, looks [3]state) map[string]float64
}

// programs are the programs that a runtime built.
type programs struct {
	toolchain string // the one that built them, as reports name it
	// start returns the command that starts a variant: it prints its address, ends with its
	// standard input, and writes an access log if it can.
	start func(v Variant, accessLog string) (bin string, args []string)
	// named returns one of the lab's programs that is no service; nil: there are none.
	named func(program string) (bin string)
}

// state is the state of a service, and the usage of the host, at an instant.
type state struct {
	service.State
	usage
	threads int     // of the process
	counted bool    // the figures of GC are known
	stopped float64 // by GC so far, s
}

// secondsUntil returns the time from a to b, s.
func (a state) secondsUntil(b state) float64 { return float64(b.Time-a.Time) / 1e9 }

// cpuSeconds returns the CPU time from a to b, s.
func (a state) cpuSeconds(b state) float64 {
	return b.UserSeconds + b.SysSeconds - a.UserSeconds - a.SysSeconds
}

// processFigures returns the figures that every process has.
func (a state) processFigures(b state) map[string]float64 {
	s := a.secondsUntil(b)
	return map[string]float64{
		"cpu_cores":          a.cpuSeconds(b) / s,
		"user_cores":         (b.UserSeconds - a.UserSeconds) / s,
		"system_cores":       (b.SysSeconds - a.SysSeconds) / s,
		"rss_mib":            float64(b.RSS) / (1 << 20),
		"minor_faults_per_s": float64(b.MinorFaults-a.MinorFaults) / s,
	}
}
