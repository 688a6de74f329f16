package evidence

// Builder writes a format's rows into a bundle. It belongs to one artifact and one format, knows that artifact's clock, and
// remembers its own rows so that they can move when the clock is aligned.
type Builder struct {
	Artifact   ArtifactID
	Moments    bool // the artifact describes single moments: there may be several such artifacts of one process
	bundle     *Bundle
	format     string
	clock      ClockID
	from, to   mark
	subjects   []SubjectID
	series     []int
	facts      []int
	coverage   []int
	processors []int
}

// Builder starts reading an artifact as one format. Close it before the next
// one is started: builders do not overlap.
func (b *Bundle) Builder(a ArtifactID, format string) *Builder {
	p := &Builder{Artifact: a, bundle: b, format: format, from: b.currentMark()}
	b.Clocks = append(b.Clocks, Clock{Name: "unix"})
	p.clock = ClockID(len(b.Clocks) - 1)
	b.parts = append(b.parts, p)
	return p
}

// Close ends the builder's rows.
func (p *Builder) Close() { p.to = p.bundle.currentMark() }

// Beside reports whether the artifact holds moments that another artifact of the same recording also covers: what happened then
// comes from that one.
func (p *Builder) Beside() bool { return p.bundle.Artifacts[p.Artifact].Series == MomentsSeries }

// Name interns a string.
func (p *Builder) Name(s string) NameID { return p.bundle.Names.ID(s) }

// NameBytes interns a string without allocating for one that is known.
func (p *Builder) NameBytes(s []byte) NameID { return p.bundle.Names.BytesID(s) }

// Text returns the string behind a name.
func (p *Builder) Text(id NameID) string { return p.bundle.Names.Text(id) }

// WaitFacts returns the facts about a wait by its name; zero where none are known.
func (p *Builder) WaitFacts(id NameID) Wait { return p.bundle.Names.Wait(id) }

// Stack interns a stack, innermost frame first.
func (p *Builder) Stack(frames []Frame) StackID { return p.bundle.Stacks.ID(frames) }

// ThreadStack interns the stack of a thread with further facts about the thread.
func (p *Builder) ThreadStack(frames []Frame, info ThreadInfo) StackID {
	return p.bundle.Stacks.Of(frames, info)
}

// Info returns the facts about a stack's thread.
func (p *Builder) Info(id StackID) ThreadInfo { return p.bundle.Stacks.Info(id) }

// Frames returns a stack's frames, innermost first. The slice must not be changed.
func (p *Builder) Frames(id StackID) []Frame { return p.bundle.Stacks.Frames(id) }

// HandlingStack interns the callers of a handler, outermost first, for Handling.
func (p *Builder) HandlingStack(callers []Caller) int32 { return p.bundle.Handlings.Stack(callers) }

// Handling interns the set of stacks on which a request was seen. The slice is sorted.
func (p *Builder) Handling(stacks []int32) HandlingID { return p.bundle.Handlings.Of(stacks) }

// Origin is a position (line, event, sample) in this builder's artifact.
func (p *Builder) Origin(position int64) Origin { return NewOrigin(p.Artifact, position) }

// Clock returns the artifact's clock, for the format to fill in.
func (p *Builder) Clock() *Clock { return &p.bundle.Clocks[p.clock] }

// Modified returns when the artifact was last written, ns since the epoch, 0 unknown: the end of a live log's content.
func (p *Builder) Modified() int64 { return p.bundle.Artifacts[p.Artifact].Modified }

// Recorded reports whether the artifact was recorded live, so that its time of writing is the time of recording and not that of a
// copy.
func (p *Builder) Recorded() bool {
	a := &p.bundle.Artifacts[p.Artifact]
	return a.About != (Subject{}) || a.Series != ""
}

// SeenFrom sets from where the artifact's requests were seen.
func (p *Builder) SeenFrom(v Vantage) { p.bundle.Artifacts[p.Artifact].Vantage = v }

// Subject registers the subject of the following rows. A process without a pid, or with the same pid, is the artifact's known
// process, unless it contradicts that.
func (p *Builder) Subject(s Subject) SubjectID {
	if about := p.bundle.Artifacts[p.Artifact].About; s.Kind == Process && about != (Subject{}) && (s.PID == 0 || s.PID == about.PID) && p.bundle.Agree(s, about) {
		p.bundle.mergeSubject(&s, about)
	}
	p.bundle.Subjects = append(p.bundle.Subjects, s)
	id := SubjectID(len(p.bundle.Subjects) - 1)
	p.subjects = append(p.subjects, id)
	return id
}

// Describe changes what is known about a subject of this builder, because formats learn of it late: the version is in the header,
// the processors further down.
func (p *Builder) Describe(id SubjectID, change func(*Subject)) { change(&p.bundle.Subjects[id]) }

// Request adds a request; its Clock and an empty Origin are filled in. A path
// longer than 1 MiB is dropped and the request becomes one without states.
func (p *Builder) Request(r Request) RequestID {
	r.Clock = p.clock
	if r.Origin == 0 {
		r.Origin = p.Origin(0)
	}
	if len(r.Path) > pathBlock {
		r.Path = nil
		p.Warnf(0, "a request with more than %d bytes of states was kept without its states", pathBlock)
	}
	return p.bundle.Requests.addRow(&r)
}

// Interval adds an interval; its Clock is filled in.
func (p *Builder) Interval(v Interval) {
	v.Clock = p.clock
	p.bundle.Intervals.addRow(&v)
}

// Shift moves the intervals added so far by ns, for formats that learn late where the times of an artifact start.
func (p *Builder) Shift(ns int64) {
	if ns == 0 {
		return
	}
	v := &p.bundle.Intervals
	for i := p.from.intervals; i < v.Len(); i++ {
		v.Start[i] += ns
		v.End[i] += ns
	}
}

// RoomForIntervals makes room for n more intervals, if the format knows their approximate number: growing by doubling needs up to
// three times the memory.
func (p *Builder) RoomForIntervals(n int) { p.bundle.Intervals.growRows(n) }

// RoomForSamples makes room for n samples, if the format knows their number.
func (p *Builder) RoomForSamples(n int) { p.bundle.Samples.growRows(n) }

// Sample adds a sample.
func (p *Builder) Sample(s Sample) { p.bundle.Samples.addRow(s) }

// Series adds a series; its Clock is filled in.
func (p *Builder) Series(s Series) {
	s.Clock = p.clock
	p.series = append(p.series, len(p.bundle.Series))
	p.bundle.Series = append(p.bundle.Series, s)
}

// Fact adds a fact.
func (p *Builder) Fact(f Fact) {
	p.facts = append(p.facts, len(p.bundle.Facts))
	p.bundle.Facts = append(p.bundle.Facts, f)
}

// FactAt adds a fact that a line of the artifact tells, 0 if it is no single line.
func (p *Builder) FactAt(subject SubjectID, key, value string, number float64, line int64) {
	p.Fact(Fact{Subject: subject, Key: key, Value: value, Number: number, Origin: p.Origin(line)})
}

// Cover adds the coverage of something that was watched; its Clock and an empty Origin are filled in.
func (p *Builder) Cover(c Coverage) {
	c.Clock = p.clock
	if c.Origin == 0 {
		c.Origin = p.Origin(0)
	}
	p.coverage = append(p.coverage, len(p.bundle.Coverage))
	p.bundle.Coverage = append(p.bundle.Coverage, c)
}

// Load adds a load generator's result.
func (p *Builder) Load(l LoadResult) { p.bundle.Loads = append(p.bundle.Loads, l) }

// Table adds a table for inspect.
func (p *Builder) Table(t Table) {
	t.Artifact = p.Artifact
	p.bundle.Tables = append(p.bundle.Tables, t)
}

// Warnf adds a warning, or counts one that was given before. Position is a line, event or sample number, 0 unknown.
func (p *Builder) Warnf(position int64, format string, args ...any) {
	p.bundle.Warnf(p.Origin(position), format, args...)
}

// WarnUnless adds a warning that says nothing where another artifact covers what this one lacks: a kind of [Coverage].
func (p *Builder) WarnUnless(covered string, position int64, text string) {
	p.Warnf(position, "%s", text)
	for i := range p.bundle.Warnings {
		if w := &p.bundle.Warnings[i]; w.Text == text {
			w.Unless = covered
		}
	}
}

// Cut notes that the artifact ended in the middle of something; the result is what was read until then.
func (p *Builder) Cut() { p.bundle.Artifacts[p.Artifact].Tail = true }
