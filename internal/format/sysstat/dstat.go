package sysstat

import (
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// dstat is the columns of dstat and dool, 0.6 to 1.3, whose groups stand between bars:
//
//	----total-usage---- -dsk/total- -net/total- ---paging-- ---system--
//	usr sys idl wai stl| read  writ| recv  send|  in   out | int   csw
//	  4   2  93   1   0|  38k 3442k|   0     0 |   0     0 |2410  4120
//
// https://github.com/scottchiefbaker/dool. The first row is of the time since boot. Rows have no time that is read: they are taken for 1 s apart.
type dstat struct {
	groups int // between bars
	cpu    int // which of them are the CPUs', paging's and the tasks', -1 none
	paging int
	tasks  int
	names  []string // of the CPUs'
	rows   int
}

// dstatOf returns the columns of a heading, nil if text is none.
func dstatOf(text string) *dstat {
	if !strings.Contains(text, "usr sys idl wai") || !strings.Contains(text, "|") {
		return nil
	}
	d := &dstat{cpu: -1, paging: -1, tasks: -1}
	for i, group := range strings.Split(text, "|") {
		d.groups++
		switch f := strings.Fields(group); {
		case len(f) >= 4 && f[0] == "usr":
			d.cpu, d.names = i, f
		case slices.Equal(f, []string{"in", "out"}):
			d.paging = i
		case slices.Equal(f, []string{"run", "blk", "new"}):
			d.tasks = i
		}
	}
	if d.cpu < 0 {
		return nil
	}
	return d
}

// parseDstat reads a row of dstat, and says whether it was one.
func (p *parser) parseDstat(text string) bool {
	d := p.dstat
	groups := strings.Split(text, "|")
	if len(groups) != d.groups {
		return false
	}
	values := func(group, n int) (v []float64) {
		if group < 0 {
			return nil
		}
		f := strings.Fields(groups[group])
		if len(f) != n {
			return nil
		}
		for _, x := range f {
			n, ok := parseNumber(x)
			if !ok {
				return nil
			}
			v = append(v, n.v)
		}
		return v
	}
	cpu := values(d.cpu, len(d.names))
	if cpu == nil {
		return false
	}
	if d.rows++; d.rows == 1 {
		return true
	}
	p.h = nil
	p.clock.nextReport()
	p.flushSums()
	p.sumsAt = p.clock.now
	share := make(map[string]float64, len(cpu))
	for i, name := range d.names {
		share[name] = cpu[i] / 100
	}
	_, soft := share["siq"]
	_, stolen := share["stl"]
	p.addModes(mode{evidence.SeriesHostCPUBusy, max(0, 1-share["idl"]-share["wai"]-share["stl"]), true}, mode{evidence.SeriesHostCPUUser, share["usr"], true},
		mode{evidence.SeriesHostCPUSystem, share["sys"], true}, mode{evidence.SeriesHostCPUIowait, share["wai"], true}, mode{evidence.SeriesHostCPUSteal, share["stl"], stolen},
		mode{evidence.SeriesHostCPUSoftirq, share["hiq"] + share["siq"], soft})
	if v := values(d.paging, 2); v != nil {
		p.addValue(&p.host, evidence.SeriesHostSwapIn, "1/s", v[0]/page, false)
		p.addValue(&p.host, evidence.SeriesHostSwapOut, "1/s", v[1]/page, false)
	}
	if v := values(d.tasks, 3); v != nil {
		p.addValue(&p.host, evidence.SeriesHostProcsRunning, "1", v[0], true)
		p.addValue(&p.host, evidence.SeriesHostProcsBlocked, "1", v[1], true)
	}
	return true
}

// page is the size of a page, bytes, in which swap is counted.
const page = 4096
