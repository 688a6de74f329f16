package export

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/google/pprof/profile"

	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
)

var missingThreads = &Missing{"no thread stacks", "unstall record TARGET records those of .NET processes and JVMs; dotnet-stack report -p PID and jcmd PID Thread.print do, too"}

// prepareStacks returns the writer of the newest stack of each thread, in the form of dotnet-stack
// report (https://github.com/dotnet/diagnostics/blob/main/src/Tools/dotnet-stack/ReportCommand.cs)
// or, for a JVM, of jstack. Of several processes each begins with a line that names it.
func prepareStacks(s *Source, _ string) (Writer, error) {
	t := threads.Of(s.Bundle, platform.Stacks())
	subjects := t.Subjects()
	if len(subjects) == 0 {
		return nil, missingThreads
	}
	return func(w io.Writer) error {
		out := bufio.NewWriterSize(w, 1<<16)
		for _, id := range subjects {
			if len(subjects) > 1 {
				fmt.Fprintf(out, "# %s\n", s.subjectTitle(id))
			}
			bursts := t.Rounds(id)
			for _, l := range bursts[len(bursts)-1] {
				if print, ok := printers[platform.ByID(s.Bundle.Subjects[id].Runtime).Dump]; ok {
					print(s, out, &l)
				}
			}
		}
		return out.Flush()
	}, nil
}

// printers write a thread as the tool of their name does.
var printers = map[string]func(*Source, *bufio.Writer, *threads.Sample){
	"dotnet-stack": (*Source).writeThread,
	"jstack":       (*Source).javaThread,
}

func (s *Source) writeThread(out *bufio.Writer, l *threads.Sample) {
	fmt.Fprintf(out, "Thread (0x%X):\n", int64(l.Lane))
	for i, f := range s.Bundle.Stacks.Frames(l.Stack) {
		name := s.Bundle.Names.Text(f.Func)
		if i == 0 && l.View.State == evidence.Running {
			out.WriteString("  CPU_TIME\n")
		}
		out.WriteString("  " + name + "\n")
	}
	out.WriteByte('\n')
}

// javaThread writes a thread as JavaThread::print_on does, as far as it is known.
func (s *Source) javaThread(out *bufio.Writer, l *threads.Sample) {
	state := "WAITING"
	switch {
	case l.View.State == evidence.Running, l.View.State == evidence.NetWait, l.View.State == evidence.Syscall: // the JVM counts threads in native code as running
		state = "RUNNABLE"
	case l.View.Pattern == "synchronized":
		state = "BLOCKED"
	}
	fmt.Fprintf(out, "\"%s\" nid=%#x\n   java.lang.Thread.State: %s\n", cmp.Or(l.View.Pool, "thread"), int64(l.Lane), state)
	info := s.Bundle.Stacks.Info(l.Stack)
	for i, f := range s.Bundle.Stacks.Frames(l.Stack) {
		where := "Unknown Source"
		if file := s.Bundle.Names.Text(f.File); file != "" {
			where = file
			if f.Line > 0 {
				where += fmt.Sprintf(":%d", f.Line)
			}
		}
		fmt.Fprintf(out, "\tat %s(%s)\n", s.Bundle.Names.Text(f.Func), where)
		if i == 0 && info.Lock != evidence.NoLock {
			fmt.Fprintf(out, "\t- %s <0x0> (a %s)\n", info.Lock, cmp.Or(info.Class, "lock"))
		}
	}
	out.WriteByte('\n')
}

// missingThreadStates are the errors where no thread did what a part is of.
var missingThreadStates = map[string]*Missing{
	"threads-running": {"no thread that ran when its stack was taken", "--what threads has all"},
	"threads-waiting": {"no thread that waited with work to do", "--what threads has all"},
}

// threadProfile returns a profile of how often threads were seen where, over all samples or those of a part: threads that ran, or that
// waited with work to do, as the flames of a report have them. What each did is the label class.
func (s *Source) threadProfile(part string) (*profile.Profile, error) {
	t := threads.Of(s.Bundle, platform.Stacks())
	subjects := t.Subjects()
	if len(subjects) == 0 {
		return nil, missingThreads
	}
	p := newProfiler(s, len(subjects) > 1)
	column := p.addColumn(evidence.SampleThread, "count")
	var seen []evidence.ArtifactID
	for _, id := range subjects {
		for _, l := range t.Samples(id) {
			if a, ok := l.Origin.Artifact(); ok && !slices.Contains(seen, a) {
				seen = append(seen, a)
				p.addSpan(s.threadSamplingSpan(id, a))
			}
			if part == "threads-running" && l.View.State != evidence.Running || part == "threads-waiting" && !l.View.Waiting() {
				continue
			}
			p.addSample(sampleKey{subject: id, stack: l.Stack, class: s.Bundle.Names.ID(l.View.Doing())}, column, int64(l.Count))
		}
	}
	if missing := missingThreadStates[part]; missing != nil && len(p.samples) == 0 {
		return nil, missing
	}
	return p.buildProfile()
}

// threadSamplingSpan returns when the thread samples of an artifact were taken.
func (s *Source) threadSamplingSpan(id evidence.SubjectID, a evidence.ArtifactID) taken {
	out := taken{artifact: a, subject: id}
	for _, c := range s.Bundle.Covered(id, evidence.CoverThreads) {
		if of, ok := c.Origin.Artifact(); ok && of == a && s.isAnchored(c.Clock) {
			out.from, out.to = c.From, c.Until
		}
	}
	return out
}

// writeThreads writes how often the threads of each process were seen where.
func (f *scope) writeThreads() {
	t := threads.Of(f.s.Bundle, platform.Stacks())
	for _, id := range t.Subjects() {
		f.writeSampled("threads seen, "+f.s.subjectTitle(id), "none", func(yield func([]int, int64)) {
			for _, l := range t.Samples(id) {
				f.stack = f.framesOf(append(f.stack[:0], f.frameNumber("["+l.View.Doing()+"]", "")), l.Stack)
				yield(f.stack, int64(l.Count))
			}
		})
	}
}
