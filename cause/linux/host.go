package linux

import (
	"fmt"
	"math"
	"strings"

	"github.com/unstall/unstall/cause"
	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/ledger"
)

// Record writes the host's side of an incident for ten seconds, in the form that
// format/procfs reads.
const Record = `for i in $(seq 40); do echo "-- $(date +%s%N) --"; tail -n +1 /proc/stat /proc/pressure/cpu /proc/PID/stat /proc/[0-9]*/stat; sleep .25; done >host.txt 2>/dev/null`

// hostEvidence asks for it.
var hostEvidence = cause.Need{What: "the host's own figures say how much, and who it was. On the host, with the service's PID, while it happens", Command: Record}

// host is what /proc said of the machine and of the process over a window. NaN is
// not known.
type host struct {
	from, until int64
	cpus        float64
	busy        float64 // cores, steal not included
	steal       float64 // cores the hypervisor gave to others
	peak        float64 // the most cores that were busy or stolen between two readings
	pressure    float64 // share of the time in which somebody waited for a processor
	process     float64 // cores the process used
	run         float64 // cores its runtime believes it had
	others      []neighbour
	origin      evidence.Origin
	own         evidence.Origin // of process
}

// neighbour is the processes of one name beside the service.
type neighbour struct {
	name    string
	count   int
	cores   float64
	largest float64 // cores of the one that used most
}

func (n neighbour) String() string {
	if n.count == 1 {
		return n.name
	}
	return fmt.Sprintf("%s (%d processes)", n.name, n.count)
}

// window is the time the process was traced, else that of its requests, else that
// in which it was watched.
func window(c *cause.Case) *host {
	h := &host{run: math.NaN()}
	if f, ok := c.Fact(evidence.FactRunTime); ok && f.Until > f.From && c.Traced() {
		h.from, h.until, h.run = f.From, f.Until, f.Number/float64(f.Until-f.From)
	} else if c.Ledger != nil {
		h.from, h.until = c.Ledger.From, c.Ledger.To
	}
	if h.until > h.from {
		return h
	}
	for i := range c.Bundle.Series {
		s := &c.Bundle.Series[i]
		if s.Subject != c.Subject || len(s.T) < 2 || !strings.HasPrefix(s.Name, "process.") {
			continue
		}
		if from, until := s.T[0], s.T[len(s.T)-1]; until-from > h.until-h.from {
			h.from, h.until = from, until
		}
	}
	return h
}

// hostOf reads the host's figures over the window; nil if half of it was not
// watched.
func hostOf(c *cause.Case) *host {
	h := window(c)
	own := h.series(c, func(s *evidence.Series) bool { return s.Subject == c.Subject && s.Name == evidence.SeriesProcessCPU })
	h.process = h.mean(own)
	var from evidence.ArtifactID = -1
	if own != nil {
		h.own = own.Origin
		from, _ = own.Origin.Artifact()
	}
	same := func(s *evidence.Series) bool {
		a, _ := s.Origin.Artifact()
		return from < 0 || a == from
	}
	busy := h.series(c, func(s *evidence.Series) bool { return s.Name == evidence.SeriesHostCPUBusy && same(s) })
	if busy == nil {
		return nil
	}
	from, _ = busy.Origin.Artifact()
	h.origin = busy.Origin
	h.cpus = float64(c.Bundle.Subjects[busy.Subject].CPUs)
	h.busy = h.mean(busy)
	for i := range c.Bundle.Series {
		s := &c.Bundle.Series[i]
		if !same(s) {
			continue
		}
		if s.Name == evidence.SeriesProcessCPU && s.Subject != c.Subject {
			h.beside(c.Bundle.Subjects[s.Subject].Name, h.mean(s))
		}
	}
	stolen := h.series(c, func(s *evidence.Series) bool { return s.Name == evidence.SeriesHostCPUSteal && same(s) })
	if h.steal = h.mean(stolen); math.IsNaN(h.steal) {
		h.steal = 0 // kernels that do not count it have none
	}
	h.pressure = h.mean(h.series(c, func(s *evidence.Series) bool { return s.Name == evidence.SeriesHostPressureCPUSome && same(s) }))
	for i, v := range busy.V {
		if i+1 < len(busy.T) && busy.T[i+1] > h.from && busy.T[i] < h.until {
			if stolen != nil && len(stolen.V) == len(busy.V) {
				v += stolen.V[i]
			}
			h.peak = max(h.peak, v)
		}
	}
	return h
}

// series finds the series that watched most of the window, nil if none did half
// of it.
func (h *host) series(c *cause.Case, is func(*evidence.Series) bool) (best *evidence.Series) {
	most := (h.until - h.from) / 2
	for i := range c.Bundle.Series {
		s := &c.Bundle.Series[i]
		if len(s.T) < 2 || !is(s) {
			continue
		}
		if d := min(h.until, s.T[len(s.T)-1]) - max(h.from, s.T[0]); d > 0 && d >= most {
			best, most = s, d+1
		}
	}
	return best
}

// mean is a series' mean over the part of the window it watched, NaN if that is
// nothing.
func (h *host) mean(s *evidence.Series) float64 {
	if s == nil {
		return math.NaN()
	}
	var sum, watched float64
	for i := 0; i+1 < len(s.T); i++ {
		if d := float64(min(s.T[i+1], h.until) - max(s.T[i], h.from)); d > 0 {
			sum += s.V[i] * d
			watched += d
		}
	}
	return sum / watched
}

func (h *host) beside(name string, cores float64) {
	if math.IsNaN(cores) {
		return
	}
	for i := range h.others {
		if h.others[i].name == name {
			h.others[i].count++
			h.others[i].cores += cores
			h.others[i].largest = max(h.others[i].largest, cores)
			return
		}
	}
	h.others = append(h.others, neighbour{name, 1, cores, cores})
}

// top is the neighbour that used most, "" if none was recorded.
func (h *host) top() (most neighbour) {
	for _, n := range h.others {
		if n.cores > most.cores {
			most = n
		}
	}
	return most
}

// stranger is the part of its time on processors below which a process's CPU time
// cannot be that of the process which was traced.
const stranger = .02

// strange says that the process in the host's recording is not the one traced.
func (h *host) strange() bool { return h.process < stranger*h.run }

// figures are the evidence of the host.
func (h *host) figures(c *cause.Case) []cause.Evidence {
	out := []cause.Evidence{c.Figure(fmt.Sprintf("CPUs of the host that were busy, of %.0f", h.cpus), h.busy, "CPUs", h.origin)}
	if h.steal >= .01 {
		out = append(out, c.Figure("CPUs the hypervisor gave to others", h.steal, "CPUs", h.origin))
	}
	if !math.IsNaN(h.pressure) {
		out = append(out, c.Figure("share of the time in which somebody waited for a CPU", h.pressure, "1", h.origin))
	}
	if !math.IsNaN(h.process) {
		out = append(out, c.Figure("CPUs the process used", h.process, "CPUs", h.own))
	}
	if l := c.Ledger; l != nil && l.Host.Measured {
		out = append(out,
			c.Figure("CPUs its runtime believed it had", h.run, "CPUs", cause.From(l.Source)),
			c.Figure("its time on processors that was not CPU time, measured", l.Host.Denied, "1", h.own))
	}
	return out
}

// starvation is what is known about a host that does not run the process.
type starvation struct {
	host     *host   // nil: not recorded
	known    bool    // anything was
	starved  bool    // it does not
	share    float64 // of the process's time on processors
	measured bool    // by the process's CPU time, not just by what took long
	agree    bool    // measured and seen do not contradict each other
}

func starvationOf(c *cause.Case) (s starvation) {
	s.host, s.agree = hostOf(c), true
	if !c.Traced() || !c.Ledger.Host.Known {
		return s
	}
	h := &c.Ledger.Host
	s.known, s.starved, s.share = true, h.Starved(), h.Share
	if h.Measured {
		s.measured, s.share = true, h.Denied
		s.agree = s.starved || !h.Suggested
	}
	return s
}

// saves is the slow time that the host took, and its part of all.
func (s starvation) saves(c *cause.Case) (*cause.Saves, float64) {
	h, ns := &c.Ledger.Host, float64(c.Ledger.Charges[ledger.HostCPU])
	if !h.Starved() {
		return nil, 0
	}
	low, high := ns*min(1, h.Low/h.Share)/1e6, ns*max(1, h.High/h.Share)/1e6
	return &cause.Saves{Value: ns / 1e6, Low: cause.Number(low), High: cause.Number(min(high, float64(c.Ledger.Total)/1e6)), Basis: cause.Basis("bound")}, c.Share(ledger.HostCPU)
}
