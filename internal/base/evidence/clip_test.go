package evidence

import "testing"

func TestClip(t *testing.T) {
	b := NewBundle()
	p := b.Builder(b.AddArtifact(Artifact{Name: "x"}), "x")
	s := p.Subject(Subject{})
	path := Path(nil).Append(Segment{Kind: Running, Dur: 5})
	var ids []RequestID
	for i := range int64(10) {
		ids = append(ids, p.Request(Request{Subject: s, Start: 100*i + 1, End: 100*i + 6, Path: path}))
		p.Sample(Sample{Subject: s, Time: 100 * i, Value: i}) // the first one has no time
		p.Interval(Interval{Subject: s, Kind: GCCycle, Start: 100 * i, End: 100*i + 50, Extra: []Extra{{CycleNumber, float64(i)}, {Forced, 1}}[:1+i%2]})
	}
	for i, id := range ids {
		p.Interval(Interval{Subject: s, Kind: Call, Start: 100*int64(i) + 2, End: 100*int64(i) + 3, Request: id})
	}
	p.Cover(Coverage{Subject: s, Kind: CoverGC, From: 1, Until: 1000})
	p.Close()
	b.Unify()
	b.Align()
	b.Clip(320, 700)
	if n := b.Requests.Len(); n != 3 {
		t.Errorf("%d requests, want those that ended at 406, 506 and 606", n)
	}
	for i := range b.Requests.Len() {
		if string(b.Requests.Path(i)) != string(path) {
			t.Errorf("request %d lost its path", i)
		}
	}
	if v := b.Samples.Value; len(v) != 4 || v[0] != 0 || v[1] != 4 || v[3] != 6 {
		t.Errorf("samples %v, want the one without a time and those at 400, 500 and 600", v)
	}
	calls := b.Intervals.Select(Call, b.Requests.Subject.At(0))
	for n, i := range calls {
		if row := int(b.Intervals.Request.At(i)) - 1; row != n || b.Requests.Start.At(row) != b.Intervals.Start[i]-1 {
			t.Errorf("call %d is request %d's", n, row)
		}
	}
	if len(calls) != 3 {
		t.Errorf("%d calls, want those of the requests that are kept", len(calls))
	}
	cycles := b.Intervals.Select(GCCycle, b.Requests.Subject.At(0))
	if len(cycles) != 4 {
		t.Errorf("%d cycles, want 4", len(cycles))
	}
	if b.Intervals.Start[0] != 320 || b.Intervals.End[0] != 350 {
		t.Errorf("the first interval is %d–%d, want 320–350", b.Intervals.Start[0], b.Intervals.End[0])
	}
	for _, i := range cycles {
		n, _ := b.Intervals.Get(i, CycleNumber)
		if int(n) != i+3 {
			t.Errorf("interval %d is of cycle %v", i, n)
		}
		if _, forced := b.Intervals.Get(i, Forced); forced != (i%2 == 0) {
			t.Errorf("interval %d: forced %v", i, forced)
		}
	}
	if c := b.Coverage[0]; c.From != 320 || c.Until != 700 {
		t.Errorf("covered %d–%d", c.From, c.Until)
	}
}

// TestClipMoments keeps what has no duration, as an adjustment of a thread pool.
func TestClipMoments(t *testing.T) {
	b := NewBundle()
	p := b.Builder(b.AddArtifact(Artifact{Name: "x"}), "x")
	for _, at := range []int64{10, 20, 30} {
		p.Interval(Interval{Kind: PoolAdjusted, Start: at, End: at})
	}
	p.Close()
	b.Align()
	b.Clip(15, 30)
	if b.Intervals.Len() != 1 || b.Intervals.Start[0] != 20 {
		t.Errorf("kept those at %v, want 20", b.Intervals.Start)
	}
}

func TestClockSlack(t *testing.T) {
	for _, c := range []struct {
		clock Clock
		want  int64
	}{
		{Clock{Error: 0, Resolution: 1e9}, 1e9 - 1},
		{Clock{Error: 5e6, Resolution: 1e6}, 6e6 - 1},
		{Clock{Error: 7}, 7},
		{Clock{Error: Unanchored, Resolution: 1e9}, Unanchored},
	} {
		if got := c.clock.Slack(); got != c.want {
			t.Errorf("%+v: slack %d, want %d", c.clock, got, c.want)
		}
	}
}

func TestSubjectAgrees(t *testing.T) {
	for _, c := range []struct {
		a, b Subject
		want bool
	}{
		{Subject{}, Subject{Runtime: "go", PID: 4}, true},
		{Subject{Version: "go1.26"}, Subject{Version: "go1.26.8"}, true},
		{Subject{Version: "go1.2"}, Subject{Version: "go1.26.8"}, false},
		{Subject{PID: 1}, Subject{PID: 2}, false},
		{Subject{CPUs: 2}, Subject{CPUs: 4}, false},
		{Subject{Kind: Host}, Subject{}, false},
	} {
		if b := NewBundle(); b.Agree(c.a, c.b) != c.want || b.Agree(c.b, c.a) != c.want {
			t.Errorf("%+v and %+v: want %v", c.a, c.b, c.want)
		}
	}
}
