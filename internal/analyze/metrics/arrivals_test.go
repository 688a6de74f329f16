package metrics

import (
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// arrive adds so many requests a second of 10 ms each, evenly.
func (x *process) arrive(from, until int64, rate int) {
	for n := range (until - from) / sec * int64(rate) {
		at := from + n*sec/int64(rate)
		x.p.Request(evidence.Request{Subject: x.id, Intended: at, Start: at, End: at + 10e6, Outcome: evidence.OK, Origin: x.p.Origin(1)})
	}
}

func TestArrivals(t *testing.T) {
	x := newProcess("go")
	x.arrive(epoch, epoch+10*sec, 10)
	x.arrive(epoch+10*sec, epoch+20*sec, 30)
	b := x.done()
	a := ArrivalsOf(b, x.id, 0, Window{epoch, epoch + 20*sec})
	if len(a.Rates) != 20 || a.Rates[0] != 10 || a.Rates[19] != 30 || a.Medians[3] != 10e6 || len(a.Rows) != 400 {
		t.Errorf("%d requests: %v, %v", len(a.Rows), a.Rates, a.Medians)
	}
	if a.Rate.Number < 19.9 || a.Rate.Number > 20.1 {
		t.Errorf("%v/s", a.Rate.Number)
	}
	if few := ArrivalsOf(b, x.id, 0, Window{epoch, epoch + 5*sec}); few.Rates != nil {
		t.Errorf("%d stretches of 5 s", len(few.Rates))
	}
	none := ArrivalsOf(b, x.host, 0, Window{epoch, epoch + 20*sec})
	near(t, "the rate of nobody's requests", none.Rate.Number, nan)
	if c := Clients(b, x.id); c.Number != 1 {
		t.Errorf("%v requests out at once", c.Number)
	}
}

func TestExpectedRate(t *testing.T) {
	x := newProcess("go")
	rate, by := ExpectedRate(x.b, x.id)
	if by != "" {
		t.Errorf("told by nobody, and yet by %q", by)
	}
	near(t, "told by nobody", rate.Number, nan)
	near(t, "clients of nobody", Clients(x.b, x.id).Number, nan)
	x.p.Fact(evidence.Fact{Subject: x.id, Key: evidence.FactBaselineRate, Number: 12})
	if rate, by = ExpectedRate(x.b, x.id); rate.Number != 12 || by != "--baseline" {
		t.Errorf("%v by %s", rate.Number, by)
	}
	x.p.Fact(evidence.Fact{Subject: x.id, Key: evidence.FactExpectedRate, Number: 10})
	if rate, by = ExpectedRate(x.b, x.id); rate.Number != 10 || by != "--expect-rate" {
		t.Errorf("%v by %s", rate.Number, by)
	}
}
