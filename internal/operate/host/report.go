// Package host says what, if anything, is wrong with a machine, and which services suffer. It reads a recording of
// the whole machine (probe/linux.Host, probe/kernel.Host, or another tool's archive of /proc).
//
// Its opinion: busy CPUs are no fault; a service that waits is. So a finding names the services that wait beside
// those that use the resource, and a bound is a share of time spent waiting. `unstall PID`, which the finding
// names, shows what the requests of one service wait for.
package host

import (
	"cmp"
	"time"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/workload"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/base/stats"
)

// Schema is the version of the JSON form of a [Report]. Keys are added, never renamed.
const Schema = "unstall.host/v1"

// Report is what a machine did over a time. Figures that are not known are nil.
type Report struct {
	Schema      string `json:"schema"`
	ToolVersion string `json:"tool_version"`
	Host        string `json:"host"`
	Window      Window `json:"window"`
	CPUs        int    `json:"cpus"` // 0 unknown

	Findings []Finding `json:"findings"` // the worst first; none: nothing found
	CPU      CPU       `json:"cpu"`
	Pressure Pressure  `json:"pressure"`
	Memory   Memory    `json:"memory"`
	Services []Service `json:"services"` // most CPU time first
	Sampled  bool      `json:"sampled"`  // running threads were
	NotSeen  []Lack    `json:"not_seen"`
	Warnings []string  `json:"warnings"`
	Capture  string    `json:"capture"`
}

// Window is when it was recorded.
type Window struct {
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`
}

// CPU is how many CPUs were in use for what, in the mean.
type CPU struct {
	Busy    *float64 `json:"busy"`
	User    *float64 `json:"user"`
	System  *float64 `json:"system"`
	Softirq *float64 `json:"softirq"`
	Iowait  *float64 `json:"iowait"`
	Steal   *float64 `json:"steal"`
}

// Pressure is the share of the time in which at least one task waited.
type Pressure struct {
	CPU    *float64 `json:"cpu"`
	Memory *float64 `json:"memory"`
	IO     *float64 `json:"io"`
}

// Memory is what the kernel did about memory, each second.
type Memory struct {
	AvailableBytes *float64 `json:"available_bytes"`
	SwapIn         *float64 `json:"swap_in_pages_s"`
	DirectReclaim  *float64 `json:"direct_reclaim_pages_s"`
	CompactStalls  *float64 `json:"compact_stalls_s"`
	OOMKills       *float64 `json:"oom_kills_s"`
}

// Service is processes that belong together.
type Service struct {
	Kind      string `json:"kind"` // "service", "kernel" (its own threads), "unlisted" (processes that came and went, or are not to be seen from here)
	Name      string `json:"name"`
	PID       int    `json:"pid"` // of the one that began the others; 0: of no service
	Processes int    `json:"processes"`
	Unit      string `json:"unit"` // systemd unit or container, "" none

	CPU       *float64 `json:"cpu"`       // CPUs
	System    *float64 `json:"system"`    // share of its CPU time in the kernel
	Waits     *float64 `json:"waits"`     // share of the time it was ready to run in which it waited for a CPU
	Waiting   *float64 `json:"waiting"`   // threads that did, in the mean
	Throttled *float64 `json:"throttled"` // share of its quota's periods in which that stopped it
	Written   *float64 `json:"written_bytes_s"`
	Read      *float64 `json:"read_bytes_s"`

	Class      workload.Class `json:"class"`
	ClassShare *float64       `json:"class_share"` // of its CPU time
	ClassBy    string         `json:"class_by"`    // "samples", "counts" or ""
	Parts      []Part         `json:"parts"`       // of its CPU time, the largest first
	Signature  Signature      `json:"signature"`
	Next       string         `json:"next"` // a command that tells more, "" none
}

// Part is a share of a service's CPU time.
type Part struct {
	Class workload.Class `json:"class"`
	Share float64        `json:"share"`
}

// Signature is what the kernel counted for each second of a service's CPU time.
type Signature struct {
	MinorFaults *float64 `json:"minor_faults"`
	MajorFaults *float64 `json:"major_faults"`
	Voluntary   *float64 `json:"voluntary_switches"`
	Involuntary *float64 `json:"involuntary_switches"`
	Segments    *float64 `json:"tcp_segments"`
	Dirtied     *float64 `json:"dirtied_pages"`
	Read        *float64 `json:"read_pages"`
}

// Lack is what could not be seen.
type Lack struct {
	What string `json:"what"`
	Why  string `json:"why"`
	Do   string `json:"do"`
}

// Of reports on the host of the recording in a bundle; nil if the bundle has no recording of a host.
func Of(b *evidence.Bundle) *Report {
	m := metrics.MachineOf(b)
	if m == nil {
		return nil
	}
	r := &Report{Schema: Schema, Host: b.Subjects[m.Subject].Name, CPUs: m.CPUs, Sampled: m.Sampled,
		Window:   Window{time.Unix(0, m.Window.From).UTC(), time.Unix(0, m.Window.Until).UTC()},
		CPU:      CPU{stats.FiniteOrNil(m.Busy), stats.FiniteOrNil(m.User), stats.FiniteOrNil(m.System), stats.FiniteOrNil(m.Softirq), stats.FiniteOrNil(m.Iowait), stats.FiniteOrNil(m.Steal)},
		Pressure: Pressure{stats.FiniteOrNil(m.PressureCPU), stats.FiniteOrNil(m.PressureMemory), stats.FiniteOrNil(m.PressureIO)},
		Memory:   Memory{stats.FiniteOrNil(m.MemoryAvailable), stats.FiniteOrNil(m.SwapIn), stats.FiniteOrNil(m.DirectReclaim), stats.FiniteOrNil(m.CompactStalls), stats.FiniteOrNil(m.OOMKills)},
	}
	for _, g := range groupProcesses(b) {
		r.Services = append(r.Services, newService(b, g, m))
	}
	r.addUnlisted()
	sorting.Short(r.Services, func(a, b Service) int { return cmp.Compare(valueOrZero(b.CPU), valueOrZero(a.CPU)) })
	for _, l := range b.Unseen {
		r.NotSeen = append(r.NotSeen, Lack(l))
	}
	for _, x := range b.Warnings {
		r.Warnings = append(r.Warnings, x.Text)
	}
	r.Findings = r.rankFindings(m.Disks)
	return r
}

// Kinds of services.
const (
	kindService  = "service"
	kindKernel   = "kernel"
	kindUnlisted = "unlisted"
)

// leastUnlisted is the share of the CPUs from which on CPU time without a process is reported.
const leastUnlisted = .05

// addUnlisted adds the CPU time that no listed process used: of processes that began and ended between two
// readings, of those in other PID namespaces, and of those of users that are hidden. Interrupts do not count as
// unlisted.
func (r *Report) addUnlisted() {
	left := valueOrZero(r.CPU.Busy) - valueOrZero(r.CPU.Softirq)
	for i := range r.Services {
		left -= valueOrZero(r.Services[i].CPU)
	}
	if r.CPUs > 0 && left >= leastUnlisted*float64(r.CPUs) {
		r.Services = append(r.Services, Service{Kind: kindUnlisted, Name: "processes not listed", Processes: 0, CPU: &left, Class: workload.Idle})
	}
}

// leastPart is the share below which a part of CPU time is not listed.
const leastPart = .03

func newService(b *evidence.Bundle, g *group, m *metrics.Machine) Service {
	v := workload.Of(metrics.WorkOf(b, g.processes, m.Window), m)
	s := Service{Kind: kindService, Name: g.name, PID: g.pid, Processes: len(g.processes), Unit: g.unit, CPU: stats.FiniteOrNil(v.CPU), System: stats.FiniteOrNil(v.System), Waiting: stats.FiniteOrNil(v.Delay),
		Signature: Signature{stats.FiniteOrNil(v.MinorFaults), stats.FiniteOrNil(v.MajorFaults), stats.FiniteOrNil(v.Voluntary), stats.FiniteOrNil(v.Involuntary), stats.FiniteOrNil(v.Segments), stats.FiniteOrNil(v.Dirtied), stats.FiniteOrNil(v.Read)}}
	if v.Demand() > 0 {
		s.Waits = stats.FiniteOrNil(v.Delay / v.Demand())
	}
	s.Written, s.Read = stats.FiniteOrNil(v.Dirtied*v.CPU*4096), stats.FiniteOrNil(v.Read*v.CPU*4096)
	verdict := v.Classify()
	s.Class, s.ClassShare = verdict.Class, stats.FiniteOrNil(verdict.Share)
	if g.kernel {
		s.Kind = kindKernel
		s.Class = workload.System
		if v.CPU*v.Seconds < .02 {
			s.Class = workload.Idle
		}
	}
	if verdict.Shares.Known {
		s.ClassBy = "counts"
		if verdict.Shares.Sampled {
			s.ClassBy = "samples"
		}
		for _, c := range workload.Classes {
			if share := verdict.Shares.Of[c]; share >= leastPart {
				s.Parts = append(s.Parts, Part{c, share})
			}
		}
		sorting.Short(s.Parts, func(a, b Part) int { return cmp.Compare(b.Share, a.Share) })
	}
	for _, p := range g.processes {
		if share := stats.FiniteOrNil(metrics.QuotaOf(b, p, -1, m.Window).Share()); share != nil && (s.Throttled == nil || *share > *s.Throttled) {
			s.Throttled = share
		}
	}
	return s
}

// valueOrZero returns a figure, 0 if it is unknown. It is for comparisons only, never for output.
func valueOrZero(v *float64) float64 {
	if v == nil {
		return 0
	}
	return *v
}
