package gopprof

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/pprof/profile"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/goclass"
)

const (
	topFunctions = 15
	topSites     = 10
)

// buildTables returns the tables that inspect prints of a recording.
func (s *summary) buildTables(r *recording) []evidence.Table {
	head := evidence.Table{Title: r.kind + " profile", Columns: []string{"", ""}}
	row := func(cells ...string) { head.Rows = append(head.Rows, cells) }
	if r.TimeNanos > 0 {
		what := "written"
		if r.kind == kindCPU {
			what = "from"
		}
		row(what, time.Unix(0, r.TimeNanos).UTC().Format("2006-01-02 15:04:05.000 UTC"))
	}
	if r.DurationNanos > 0 {
		row("duration", formatSeconds(r.DurationNanos))
	}
	row("stacks", strconv.Itoa(len(r.Sample)))
	var more []evidence.Table
	switch r.kind {
	case kindCPU:
		cpu := s.totalCPU(r)
		row("CPU time", formatSeconds(cpu))
		if r.DurationNanos > 0 {
			row("CPUs used", fmt.Sprintf("%.3f", float64(cpu)/float64(r.DurationNanos)))
		}
		if p := samplingPeriod(r); p > 0 {
			row("samples per CPU second", strconv.FormatFloat(1e9/float64(p), 'g', 4, 64))
		}
		more = append(more, s.classTable(r, cpu), functionTable(r, cpu))
	case kindHeap, kindAllocs:
		for i, t := range r.SampleType {
			row(strings.ReplaceAll(t.Type, "_", " "), formatQuantity(s.total[i], t.Unit))
		}
		if r.Period > 0 {
			row("one sample per", formatQuantity(r.Period, "bytes"))
		}
		by := "inuse_space"
		if r.kind == kindAllocs || findColumn(r.Profile, by) < 0 {
			by = "alloc_space"
		}
		more = append(more, s.siteTable(r, "top sites by "+strings.ReplaceAll(by, "_", " "), by))
	case kindMutex, kindBlock, kindContention:
		for i, t := range r.SampleType {
			row(t.Type, formatQuantity(s.total[i], t.Unit))
		}
		more = append(more, s.siteTable(r, "top sites by delay", "delay"))
	default:
		for i, t := range r.SampleType {
			n := s.total[i]
			if i == 0 {
				n = s.totalCount(r)
			}
			row(t.Type, formatQuantity(n, t.Unit))
		}
		if len(r.SampleType) > 0 {
			more = append(more, s.siteTable(r, "top sites", r.SampleType[0].Type))
		}
	}
	tables := []evidence.Table{head}
	for _, t := range more {
		if len(t.Rows) > 0 {
			tables = append(tables, t)
		}
	}
	return tables
}

func (s *summary) classTable(r *recording, cpu int64) evidence.Table {
	t := evidence.Table{Title: "CPU time by purpose", Columns: []string{"", "CPU", "share"}}
	for _, c := range goclass.Order {
		v, ok := s.class[c]
		if !ok {
			continue
		}
		if c == goclass.Own {
			c = "the program's own"
		}
		t.Rows = append(t.Rows, []string{c, formatSeconds(v), formatShare(v, cpu)})
	}
	if gc := s.gcTime(); gc != 0 {
		t.Rows = append(t.Rows, []string{"GC in total", formatSeconds(gc), formatShare(gc, cpu)})
	}
	return t
}

// functionTable lists functions as pprof -top does: flat is a function's own
// time, cum its time with callees, once per stack.
func functionTable(r *recording, cpu int64) evidence.Table {
	type function struct {
		name      string
		flat, cum int64
		last      int // the last sample counted into cum
	}
	all := make(map[string]*function)
	for i, s := range r.Sample {
		v, leaf := cpuTime(r, s), true
		add := func(name string) {
			f := all[name]
			if f == nil {
				f = &function{name: name, last: -1}
				all[name] = f
			}
			if leaf {
				f.flat = addSaturated(f.flat, v)
				leaf = false
			}
			if f.last != i {
				f.cum = addSaturated(f.cum, v)
				f.last = i
			}
		}
		for _, l := range s.Location {
			if len(l.Line) == 0 {
				add(libraryName(l))
			}
			for _, line := range l.Line {
				add(clipText(functionName(line)))
			}
		}
	}
	list := make([]*function, 0, len(all))
	for _, f := range all {
		list = append(list, f)
	}
	slices.SortStableFunc(list, func(a, b *function) int {
		return cmp.Or(cmp.Compare(b.flat, a.flat), cmp.Compare(b.cum, a.cum), strings.Compare(a.name, b.name))
	})
	t := evidence.Table{Title: "top functions", Columns: []string{"", "flat", "flat", "cum", "cum"}}
	for _, f := range list[:min(len(list), topFunctions)] {
		t.Rows = append(t.Rows, []string{f.name, formatSeconds(f.flat), formatShare(f.flat, cpu), formatSeconds(f.cum), formatShare(f.cum, cpu)})
	}
	return t
}

// siteTable sums the values of samples by the place in the program that
// caused them, ordered by one column.
func (s *summary) siteTable(r *recording, title, by string) evidence.Table {
	order := findColumn(r.Profile, by)
	t := evidence.Table{Title: title, Columns: []string{""}}
	if order < 0 {
		return t
	}
	// The column that orders comes first, then the others of its family.
	columns := []int{order}
	for i, c := range r.SampleType {
		if i != order && (r.kind != kindHeap && r.kind != kindAllocs || strings.HasSuffix(c.Type, "_space")) {
			columns = append(columns, i)
		}
	}
	type site struct {
		name   string
		values []int64
	}
	sites := make(map[string]*site)
	for _, x := range r.Sample {
		name := siteOf(x.Location)
		if s := sites[name]; s != nil {
			for i, v := range x.Value {
				s.values[i] = addSaturated(s.values[i], v)
			}
			continue
		}
		sites[name] = &site{name, slices.Clone(x.Value)}
	}
	list := make([]*site, 0, len(sites))
	for _, s := range sites {
		list = append(list, s)
	}
	slices.SortStableFunc(list, func(a, b *site) int {
		return cmp.Or(cmp.Compare(b.values[order], a.values[order]), strings.Compare(a.name, b.name))
	})
	for _, c := range columns {
		t.Columns = append(t.Columns, strings.ReplaceAll(r.SampleType[c].Type, "_", " "))
		if c == order {
			t.Columns = append(t.Columns, "share")
		}
	}
	for _, x := range list[:min(len(list), topSites)] {
		if x.values[order] == 0 {
			break
		}
		cells := []string{x.name}
		for _, c := range columns {
			cells = append(cells, formatQuantity(x.values[c], r.SampleType[c].Unit))
			if c == order {
				cells = append(cells, formatShare(multiplySaturated(x.values[c], scaleOf(r.SampleType[c].Unit)), s.wholeOf(r, c)))
			}
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

func scaleOf(unit string) int64 {
	_, scale := baseUnit(unit)
	return scale
}

// buildTables returns the tables of a goroutine dump.
func (d *dumps) buildTables() []evidence.Table {
	o := d.best
	head := evidence.Table{Title: "goroutine dump", Columns: []string{"", ""}}
	type group struct {
		name    string
		count   int64
		longest int64
	}
	add := func(m map[string]*group, name string, g goroutine) {
		x := m[name]
		if x == nil {
			x = &group{name: name}
			m[name] = x
		}
		x.count += g.count
		x.longest = max(x.longest, g.minutes)
	}
	states, sites := make(map[string]*group), make(map[string]*group)
	for _, g := range o.goroutines {
		add(states, g.state, g)
		add(sites, g.state+"  "+siteOf(g.stack), g)
	}
	table := func(title string, m map[string]*group) evidence.Table {
		list := make([]*group, 0, len(m))
		for _, g := range m {
			list = append(list, g)
		}
		slices.SortStableFunc(list, func(a, b *group) int {
			return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(b.longest, a.longest), strings.Compare(a.name, b.name))
		})
		t := evidence.Table{Title: title, Columns: []string{"", "goroutines", "longest"}}
		for _, g := range list[:min(len(list), topSites)] {
			longest := "< 1 min"
			if g.longest > 0 {
				longest = strconv.FormatInt(g.longest, 10) + " min"
			}
			t.Rows = append(t.Rows, []string{g.name, strconv.FormatInt(g.count, 10), longest})
		}
		return t
	}
	head.Rows = append(head.Rows, []string{"goroutines", strconv.FormatInt(o.goroutineCount(), 10)}, []string{"line", strconv.FormatInt(o.goroutines[0].line, 10)})
	out := []evidence.Table{head, table("goroutines by state", states), table("goroutines by state and site", sites)}
	if len(d.seen) > 1 {
		t := evidence.Table{Title: "goroutine dumps in this file", Columns: []string{"line", "goroutines"}}
		for _, s := range d.seen {
			t.Rows = append(t.Rows, []string{strconv.FormatInt(s.line, 10), strconv.FormatInt(s.goroutines, 10)})
		}
		out = append(out, t)
	}
	return out
}

// commonestPlace returns the state of most goroutines and, behind a [evidence.Link], the function that they are in.
func (d *dump) commonestPlace() string {
	n := make(map[string]int64)
	most := ""
	for _, g := range d.goroutines {
		site, _, _ := strings.Cut(siteOf(g.stack), " ")
		at := g.state + evidence.Link + site
		if n[at] += g.count; n[at] > n[most] {
			most = at
		}
	}
	return most
}

// plumbing are functions between a program and what it waits for or allocates.
var plumbing = map[string]bool{
	"runtime": true, "sync": true, "time": true, "syscall": true, "os": true, "io": true, "bufio": true, "net": true, "crypto/tls": true,
	"internal/poll": true, "internal/sync": true, "internal/runtime/maps": true, "os/signal": true, "strings": true, "bytes": true, "context": true,
}

// siteOf names the innermost frame that is not plumbing, and its line; if all
// are plumbing, the innermost.
func siteOf(locations []*profile.Location) string {
	fallback := "(no stack)"
	for _, l := range locations {
		if len(l.Line) == 0 && fallback == "(no stack)" {
			fallback = libraryName(l)
		}
		for _, line := range l.Line {
			name := clipText(functionName(line))
			if name == "" {
				continue
			}
			if line.Function.Filename != "" && line.Line > 0 {
				name += " " + path.Base(line.Function.Filename) + ":" + strconv.FormatInt(line.Line, 10)
			}
			if pkg, _ := goclass.SplitFunction(line.Function.Name); !plumbing[pkg] {
				return name
			}
			if fallback == "(no stack)" {
				fallback = name
			}
		}
	}
	return fallback
}

func formatShare(part, whole int64) string {
	if whole == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(whole))
}

func formatSeconds(ns int64) string {
	switch v := float64(ns); {
	case math.Abs(v) >= 1e9:
		return fmt.Sprintf("%.2f s", v/1e9)
	case math.Abs(v) >= 1e6 || ns == 0:
		return fmt.Sprintf("%.0f ms", v/1e6)
	default:
		return fmt.Sprintf("%.3g ms", v/1e6)
	}
}

func formatQuantity(v int64, unit string) string {
	base, scale := baseUnit(unit)
	v = multiplySaturated(v, scale)
	switch base {
	case "nanoseconds":
		return formatSeconds(v)
	case "bytes":
		f, i := float64(v), 0
		for ; math.Abs(f) >= 1024 && i < 5; i++ {
			f /= 1024
		}
		if i == 0 {
			return strconv.FormatInt(v, 10) + " B"
		}
		return fmt.Sprintf("%.1f %ciB", f, "KMGTP"[i-1])
	}
	return strconv.FormatInt(v, 10)
}
