package evidence

import "testing"

// What is an address gets the name that another artifact of the same process has for it at that time.
func TestNameCode(t *testing.T) {
	b := NewBundle()
	b.Subjects = []Subject{{}, {}, {}}
	at := func(address uint64) Frame {
		return Frame{Func: b.Names.ID(Address(address)), File: b.Names.ID("code")}
	}
	native := Frame{Func: b.Names.ID("memcpy"), File: b.Names.ID("libc.so.6")}
	stack := b.Stacks.ID([]Frame{native, at(0x7f0010), at(0x7f0020), at(0x7f0030)})
	for s, time := range []int64{100, 100, 200} {
		b.Samples.addRow(Sample{Subject: SubjectID(s), Time: time, Stack: stack})
	}
	b.Samples.addRow(Sample{Time: 1})
	b.Intervals.addRow(&Interval{Subject: 0, Start: 100, Stack: stack})
	named := func(address uint64, time int64) string {
		switch {
		case address == 0x7f0010 && time < 150:
			return "Shop!Cart.Add(int)"
		case address == 0x7f0020:
			return "Shop!Program.Main()"
		}
		return ""
	}
	b.Code = []Code{{Subject: 0, At: func(uint64, int64) string { return "" }}, {Subject: 0, At: named}, {Subject: 2, At: named}}
	c := b.Clone()
	c.NameCode()
	text := func(id StackID) (s string) {
		for _, f := range c.Stacks.Frames(id) {
			s += c.Names.Text(f.Func) + " < "
		}
		return s
	}
	for i, want := range []string{
		"memcpy < Shop!Cart.Add(int) < Shop!Program.Main() < code made at run time < ",
		"memcpy < code made at run time < code made at run time < code made at run time < ",
		"memcpy < code made at run time < Shop!Program.Main() < code made at run time < ",
		"",
	} {
		if got := text(c.Samples.Stack[i]); got != want {
			t.Errorf("sample %d: %s\nwant %s", i, got, want)
		}
	}
	if got, want := text(c.Intervals.Stack.At(0)), "memcpy < Shop!Cart.Add(int) < Shop!Program.Main() < code made at run time < "; got != want {
		t.Errorf("interval: %s", got)
	}
	if b.Samples.Stack[0] != stack {
		t.Error("the bundle that was read is not as it was read")
	}
}
