package export

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
)

// maxShown is how many of the slowest requests have a time line of their own in a
// speedscope file; the program lists them by name.
const maxShown = 100

// prepareSpeedscope returns the writer of a file for https://www.speedscope.app
// (https://www.speedscope.app/file-format-schema.json): the CPU profile of each process, its
// threads' stacks, its allocations, the slow requests' time by what it was charged to and by
// stack, and the slowest requests one by one, each with its states in order and their stacks.
// Profiles are written as they are made; the frames, which they share, come last.
func prepareSpeedscope(s *Source, _ string) (Writer, error) {
	cpu, ran, waited := s.profilesOf("cpu"), s.profilesOf("on-cpu"), s.profilesOf("off-cpu")
	traced := s.tracedLedgers()
	slowest := slowestOf(s, traced)
	if known := len(slowest); known > maxShown {
		slowest = slowest[:maxShown]
		s.addOmitted(fmt.Sprintf("omitted the timelines of %d requests: only the %d slowest are written", known-maxShown, maxShown))
	}
	if len(slowest) == 0 && !s.hasSamples(cpu) && !s.hasSamples(ran) && !s.hasSamples(waited) && s.Bundle.Names.Lookup(evidence.SampleThread) == 0 && len(s.allocationSubjects()) == 0 {
		return nil, &Missing{"no CPU profile, no requests with known states, no thread stacks and no allocations", "unstall record TARGET records them"}
	}
	return func(w io.Writer) error {
		f := &scope{s: s, w: bufio.NewWriterSize(w, 1<<16), frames: make(map[function]int)}
		f.several = len(s.processTitles(slices.Concat(cpu, ran, waited), traced)) > 1
		f.writeHeader(strings.Join(s.processTitles(slices.Concat(cpu, ran, waited), traced), ", "))
		f.writeProfiles("CPU", "", cpu)
		f.writeProfiles("CPU, by the kernel", evidence.SampleOnCPU, ran)
		f.writeProfiles("waiting, by the kernel", evidence.SampleOffCPU, waited)
		f.writeThreads()
		f.writeAllocations()
		for _, l := range traced {
			f.writeSlow(l)
		}
		for _, r := range slowest {
			f.writeRequest(r)
		}
		return f.writeFooter()
	}, nil
}

func (s *Source) hasSamples(all []taken) bool {
	for i := range s.Bundle.Samples.Len() {
		a, ok := s.Bundle.Samples.Origin[i].Artifact()
		if ok && slices.ContainsFunc(all, func(t taken) bool { return t.artifact == a }) {
			return true
		}
	}
	return false
}

// shown is a request with a time line of its own.
type shown struct {
	l   *ledger.Ledger
	row int
}

// slowestOf returns the slowest requests whose states are known, the slowest first.
func slowestOf(s *Source, ledgers []*ledger.Ledger) (out []shown) {
	r := &s.Bundle.Requests
	for _, l := range ledgers {
		for _, row := range l.Rows {
			if len(r.Path(row)) > 0 {
				out = append(out, shown{l, row})
			}
		}
	}
	sorting.Short(out, func(x, y shown) int {
		return cmp.Or(cmp.Compare(r.Latency(y.row), r.Latency(x.row)), cmp.Compare(x.row, y.row))
	})
	return out
}

// scope writes a speedscope file.
type scope struct {
	s       *Source
	several bool // several processes: each request's name has its process
	w       *bufio.Writer
	frames  map[function]int
	list    []function // by number
	any     bool       // a profile was written
	opened  []int      // the frames that are open, of the request being written
	stack   []int
}

func (f *scope) writeHeader(name string) {
	f.w.WriteString(`{"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":"unstall",`)
	f.w.WriteString(`"name":`)
	f.writeText(name)
	f.w.WriteString(`,"activeProfileIndex":0,"profiles":[`)
}

func (f *scope) writeFooter() error {
	f.w.WriteString("\n],\"shared\":{\"frames\":[")
	for i, x := range f.list {
		if i > 0 {
			f.w.WriteByte(',')
		}
		f.w.WriteString("\n{\"name\":")
		f.writeText(x.name)
		if x.file != "" {
			f.w.WriteString(`,"file":`)
			f.writeText(x.file)
		}
		f.w.WriteByte('}')
	}
	f.w.WriteString("\n]}}\n")
	return f.w.Flush()
}

// writeText writes a JSON string; bytes that are not UTF-8 become U+FFFD.
func (f *scope) writeText(s string) {
	quoted, _ := json.Marshal(s) // of a string it cannot fail
	f.w.Write(quoted)
}

func (f *scope) writeNumber(v int64) { f.w.Write(strconv.AppendInt(f.w.AvailableBuffer(), v, 10)) }

// frameNumber returns the number of a frame.
func (f *scope) frameNumber(name, file string) int {
	k := function{name, file}
	n, ok := f.frames[k]
	if !ok {
		n = len(f.list)
		f.frames[k] = n
		f.list = append(f.list, k)
	}
	return n
}

// framesOf appends the numbers of a stack's frames, outermost first: its thread's name, its
// functions, the system call it is in.
func (f *scope) framesOf(to []int, stack evidence.StackID) []int {
	frames, info := f.s.Bundle.Stacks.Frames(stack), f.s.Bundle.Stacks.Info(stack)
	if info.Name != "" {
		to = append(to, f.frameNumber("["+info.Name+"]", ""))
	}
	for i := len(frames) - 1; i >= 0; i-- {
		to = append(to, f.frameNumber(f.s.Bundle.Names.Text(frames[i].Func), f.s.Bundle.Names.Text(frames[i].File)))
	}
	if call := info.SystemCall(); call != "" {
		to = append(to, f.frameNumber(call, ""))
	}
	return to
}

func (f *scope) writeProfileHead(typ, name, unit string, from, to int64) {
	if f.any {
		f.w.WriteByte(',')
	}
	f.any = true
	f.w.WriteString("\n{\"type\":\"" + typ + "\",\"name\":")
	f.writeText(name)
	f.w.WriteString(`,"unit":"` + unit + `","startValue":`)
	f.writeNumber(from)
	f.w.WriteString(`,"endValue":`)
	f.writeNumber(to)
}

// writeSampled writes a profile of stacks and their weights. Each must yield them in the same
// order each time it is called.
func (f *scope) writeSampled(name, unit string, each func(yield func(stack []int, weight int64))) {
	var sum int64
	each(func(_ []int, v int64) { sum += v })
	if sum == 0 {
		return
	}
	f.writeProfileHead("sampled", name, unit, 0, sum)
	f.w.WriteString(`,"samples":[`)
	first := true
	each(func(stack []int, _ int64) {
		if !first {
			f.w.WriteByte(',')
		}
		first = false
		f.w.WriteByte('[')
		for i, n := range stack {
			if i > 0 {
				f.w.WriteByte(',')
			}
			f.writeNumber(int64(n))
		}
		f.w.WriteByte(']')
	})
	f.w.WriteString(`],"weights":[`)
	first = true
	each(func(_ []int, v int64) {
		if !first {
			f.w.WriteByte(',')
		}
		first = false
		f.writeNumber(v)
	})
	f.w.WriteString("]}")
}

// writeProfiles writes the profile of each process, of samples of a type or of all ("") that count time.
func (f *scope) writeProfiles(title, typ string, all []taken) {
	x := &f.s.Bundle.Samples
	var done []evidence.SubjectID
	for _, t := range all {
		if slices.Contains(done, t.subject) {
			continue
		}
		done = append(done, t.subject)
		f.writeSampled(title+", "+f.s.subjectTitle(t.subject), "nanoseconds", func(yield func([]int, int64)) {
			for i := range x.Len() {
				a, ok := x.Origin[i].Artifact()
				if ok && x.Subject[i] == t.subject && slices.ContainsFunc(all, func(t taken) bool { return t.artifact == a }) && f.s.Bundle.Names.Text(x.Unit[i]) == "nanoseconds" && (typ == "" || f.s.Bundle.Names.Text(x.Type[i]) == typ) {
					f.stack = f.framesOf(f.stack[:0], x.Stack[i])
					yield(f.stack, x.Value[i])
				}
			}
		})
	}
}

// writeSlow writes the slow requests' time by what it was charged to, and by stack.
func (f *scope) writeSlow(l *ledger.Ledger) {
	type key struct {
		mechanism ledger.Mechanism
		state     evidence.Kind
		stack     evidence.StackID
	}
	sums := make(map[key]int64)
	var order []key
	for _, row := range l.Slow {
		l.Walk(row, func(_ int64, seg evidence.Segment, c *ledger.Charges) {
			for m, ns := range c {
				if ns == 0 {
					continue
				}
				k := key{ledger.Mechanism(m), seg.Kind, seg.Stack}
				if _, ok := sums[k]; !ok {
					order = append(order, k)
				}
				sums[k] += ns
			}
		})
	}
	name := fmt.Sprintf("%d slow requests over %s, %s", len(l.Slow), formatShortDuration(l.Threshold), f.s.subjectTitle(l.Subject))
	f.writeSampled(name, "nanoseconds", func(yield func([]int, int64)) {
		for _, k := range order {
			f.stack = append(f.stack[:0], f.frameNumber("["+k.mechanism.Title()+"]", ""))
			if k.stack == 0 {
				f.stack = append(f.stack, f.frameNumber("("+k.state.String()+")", ""))
			}
			f.stack = f.framesOf(f.stack, k.stack)
			yield(f.stack, sums[k])
		}
	})
}

// writeRequest writes the timeline of one request: below it its states, below each the stack it
// was seen with.
func (f *scope) writeRequest(r shown) {
	b := f.s.Bundle
	q := b.Requests.Row(r.row)
	route := b.Names.Text(q.Route)
	if route == "" {
		route = "request"
	}
	name := fmt.Sprintf("%s ms %s", formatMilliseconds(q.Latency()), route)
	if f.s.isAnchored(q.Clock) {
		name += " at " + time.Unix(0, q.Began()).UTC().Format("15:04:05.000000")
	}
	if q.Outcome != evidence.OK {
		name += ", " + q.Outcome.String()
	}
	if f.several {
		name += ", " + f.s.subjectTitle(q.Subject)
	}
	f.writeProfileHead("evented", name, "nanoseconds", 0, q.Latency())
	f.w.WriteString(`,"events":[`)
	f.opened = f.opened[:0]
	began, first := q.Began(), true
	event := func(typ string, at int64, frame int) {
		if !first {
			f.w.WriteByte(',')
		}
		first = false
		f.w.WriteString(`{"type":"` + typ + `","at":`)
		f.writeNumber(at)
		f.w.WriteString(`,"frame":`)
		f.writeNumber(int64(frame))
		f.w.WriteByte('}')
	}
	turn := func(at int64, to []int) {
		same := 0
		for same < len(to) && same < len(f.opened) && to[same] == f.opened[same] {
			same++
		}
		for i := len(f.opened) - 1; i >= same; i-- {
			event("C", at, f.opened[i])
		}
		for _, n := range to[same:] {
			event("O", at, n)
		}
		f.opened = append(f.opened[:0], to...)
	}
	r.l.Walk(r.row, func(at int64, seg evidence.Segment, c *ledger.Charges) {
		st := stateOf(seg, c)
		f.stack = append(f.stack[:0], f.frameNumber(route, ""), f.frameNumber("["+st.formatTitle(b)+"]", ""))
		f.stack = f.framesOf(f.stack, seg.Stack)
		turn(at-began, f.stack)
	})
	turn(q.Latency(), nil)
	f.w.WriteString("]}")
}
