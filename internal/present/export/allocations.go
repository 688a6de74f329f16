package export

import (
	"github.com/google/pprof/profile"

	"github.com/unstall/unstall/internal/base/evidence"
)

// memoryTypes are the types of allocation samples, in order of their columns.
var memoryTypes = []string{evidence.SampleAllocated, evidence.SampleLargeAllocated, evidence.SampleLargeObjects, evidence.SampleGen2Deaths}

// memoryTitles names the types of allocation samples in words.
var memoryTitles = map[string]string{evidence.SampleAllocated: "allocated", evidence.SampleLargeAllocated: "large objects allocated", evidence.SampleGen2Deaths: "died in generation 2"}

var missingAllocations = &Missing{"no allocations recorded", "unstall record TARGET of a .NET process, or dotnet-trace collect --profile gc-verbose -p PID"}

// allocationSubjects returns the processes whose allocations were recorded.
func (s *Source) allocationSubjects() (out []evidence.SubjectID) {
	for i := range s.Bundle.Subjects {
		id := evidence.SubjectID(i)
		if len(s.Bundle.Covered(id, evidence.CoverAllocation)) > 0 {
			out = append(out, id)
		}
	}
	return out
}

// eachAllocationSample calls yield with the row and the column of each allocation sample of the
// given processes.
func (s *Source) eachAllocationSample(of []evidence.SubjectID, yield func(row, column int)) {
	columns := make(map[evidence.NameID]int)
	for i, name := range memoryTypes {
		if id := s.Bundle.Names.Lookup(name); id != 0 {
			columns[id] = i
		}
	}
	asked := make(map[evidence.SubjectID]bool)
	for _, id := range of {
		asked[id] = true
	}
	x := &s.Bundle.Samples
	for i := range x.Len() {
		if c, ok := columns[x.Type[i]]; ok && asked[x.Subject[i]] {
			yield(i, c)
		}
	}
}

// allocationProfile returns a profile of allocations: the type of object is the innermost frame.
func (s *Source) allocationProfile() (*profile.Profile, error) {
	subjects := s.allocationSubjects()
	if len(subjects) == 0 {
		return nil, missingAllocations
	}
	p := newProfiler(s, len(subjects) > 1)
	var sums [4]int64
	s.eachAllocationSample(subjects, func(row, column int) { sums[column] += s.Bundle.Samples.Value[row] })
	var at [len(sums)]int
	for i, name := range memoryTypes {
		at[i] = -1
		if sums[i] > 0 {
			at[i] = p.addColumn(name, map[bool]string{true: "count", false: "bytes"}[name == evidence.SampleLargeObjects])
			p.p.DefaultSampleType = evidence.SampleAllocated
		}
	}
	for _, id := range subjects {
		for _, c := range s.Bundle.Covered(id, evidence.CoverAllocation) {
			if a, ok := c.Origin.Artifact(); ok && s.isAnchored(c.Clock) {
				p.addSpan(taken{artifact: a, subject: id, from: c.From, to: c.Until})
			}
		}
	}
	x := &s.Bundle.Samples
	s.eachAllocationSample(subjects, func(row, column int) {
		if at[column] >= 0 {
			p.addSample(sampleKey{subject: x.Subject[row], stack: x.Stack[row], class: x.Class[row], object: true}, at[column], x.Value[row])
		}
	})
	return p.buildProfile()
}

// writeAllocations writes the allocations of each process: the type of object is the innermost
// frame.
func (f *scope) writeAllocations() {
	x := &f.s.Bundle.Samples
	for _, id := range f.s.allocationSubjects() {
		for i, name := range memoryTypes {
			if memoryTitles[name] == "" {
				continue
			}
			f.writeSampled(memoryTitles[name]+", "+f.s.subjectTitle(id), "bytes", func(yield func([]int, int64)) {
				f.s.eachAllocationSample([]evidence.SubjectID{id}, func(row, column int) {
					if column == i {
						f.stack = append(f.framesOf(f.stack[:0], x.Stack[row]), f.frameNumber(f.s.Bundle.Names.Text(x.Class[row]), ""))
						yield(f.stack, x.Value[row])
					}
				})
			})
		}
	}
}
