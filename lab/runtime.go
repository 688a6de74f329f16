package lab

import (
	"context"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/lab/service"
)

// Runtime is what the services of a lab are written for, [Go], [Dotnet] or [JVM]: how
// they are built and started, and what they can be asked.
type Runtime interface {
	// buildPrograms builds what the variants need.
	buildPrograms(ctx context.Context, l *Lab, say func(string)) (*programs, error)
	// readState says what a process is like, usage aside.
	readState(one *Service) (state, error)
	// figuresBetween are the figures of a service between two instants, by the names that
	// package compare knows.
	figuresBetween(a, b state) map[string]float64
	// captureFigures are what the capture of a variant's diagnosis holds and the diagnosis
	// does not give, by the names that predictions have.
	captureFigures(b *evidence.Bundle, about evidence.SubjectID, looks [3]state) map[string]float64
}

// programs are what a runtime built.
type programs struct {
	toolchain string // that built them, as reports name it
	// start is how the program of a variant is started so that it says where it
	// serves, ends with its standard input, and if it can writes an access log.
	start func(v Variant, accessLog string) (bin string, args []string)
	// named is one of the lab's programs that is no service; nil: there are none.
	named func(program string) (bin string)
}

// state is what a service is like at an instant, and who used the host until then.
type state struct {
	service.State
	usage
	threads int     // of the process
	counted bool    // the collector's figures are known
	stopped float64 // by its collector so far, s
}

// secondsUntil returns how long b is after a, s.
func (a state) secondsUntil(b state) float64 { return float64(b.Time-a.Time) / 1e9 }

// cpuSeconds returns the CPU time from a to b, s.
func (a state) cpuSeconds(b state) float64 {
	return b.UserSeconds + b.SysSeconds - a.UserSeconds - a.SysSeconds
}

// processFigures returns the figures that any process has.
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
