package hugepages

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/model"
)

// use is a process that gets 1,000 huge pages a second, on a host where a fault for one takes 34 µs
// and one for a small page 1.7 µs, as measured.
func use(touched float64) *Use {
	u := &Use{CPU: .5, System: .3, Faults: model.Between(1000, 0, 1000), Others: 1200, Small: model.Between(1.7e3, 1.5e3, 2e3), Huge: model.Between(34e3, 30e3, 40e3),
		PerHuge: 512, Resident: 64 << 21, Compaction: model.Exactly(0), Clearing: model.Between(.034, .03, .04), Touched: Touched{model.Unknown, 100}}
	if touched > 0 {
		u.Touched.Estimate = model.Between(touched, touched, touched)
	}
	return u
}

func TestBreakEven(t *testing.T) {
	if v := use(1).BreakEven().Value; v != 20 {
		t.Errorf("%g small pages, want 20", v)
	}
	for _, x := range []struct{ touched, saved float64 }{ // of CPUs, without huge pages
		{1, .034 - .0017}, {20, 0}, {512, .034 - 512*1.7e-3},
	} {
		if v := use(x.touched).Saved(); math.Abs(v.Value-x.saved) > 1e-9 || v.Low > v.Value || v.High < v.Value {
			t.Errorf("%g touched: %+v is saved, want %g", x.touched, v, x.saved)
		}
	}
	if v := use(0).Saved(); v.Known() {
		t.Errorf("saved is %+v where nobody knows what is touched", v)
	}
}

func TestAsk(t *testing.T) {
	u := use(4)
	u.Compaction = model.Between(.2, .18, .22)
	a, err := u.Ask("arena", nil)
	if err != nil || len(a.Rows) != 2 {
		t.Fatalf("%+v, %v", a, err)
	}
	p := a.Own.(*Prediction)
	never, deferred := p.Outcomes[0], p.Outcomes[1]
	if math.Abs(never.Cores.Value-.0068) > 1e-9 || math.Abs(never.Faults.Value-4200) > 1e-6 || never.Resident.Value != 64*4<<12 {
		t.Errorf("never: %+v", never)
	}
	if deferred.Cores.Value != u.Clearing.Value {
		t.Errorf("without compaction: %+v", deferred)
	}
	if _, err := json.Marshal(a); err != nil {
		t.Error(err)
	}
	if a.Lead.Why != "the process uses 4 of 512 small pages of each huge page, and a huge page saves time from 20 on" {
		t.Error(a.Lead.Why)
	}
}

// What is not known is an error that says what would tell.
func TestUnknown(t *testing.T) {
	u := use(0)
	if _, err := u.Ask("arena", nil); !errors.Is(err, errTouched) {
		t.Errorf("error %v", err)
	}
	w, err := model.ParseSets([]*model.Model{Model}, []string{"thp=never touched=40"})
	if err != nil {
		t.Fatal(err)
	}
	if a, err := u.Ask("arena", w); err != nil || math.Abs(a.Own.(*Prediction).Outcomes[0].Cores.Value-1000*40*1.7e-6) > 1e-9 {
		t.Errorf("%+v, %v", a, err)
	}
	u.Compaction = model.Unknown
	w, _ = model.ParseSets([]*model.Model{Model}, []string{"thp-defrag=defer"})
	if _, err := u.Ask("arena", w); !errors.Is(err, errCompaction) {
		t.Errorf("error %v", err)
	}
	if _, err := model.ParseSets([]*model.Model{Model}, []string{"thp=sometimes"}); err == nil || !strings.Contains(err.Error(), "never") {
		t.Errorf("error %v", err)
	}
}
