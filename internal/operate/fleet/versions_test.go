package fleet

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/operate/fleet/promql"
	"github.com/unstall/unstall/internal/operate/watch/exporter/names"
)

// rollout is a day of a service. From the middle of the day a new version replaces the old one on hosts hosts,
// with times times the slow time.
func rollout(hosts int, times float64, requests float64) *asked {
	random := rand.New(rand.NewPCG(uint64(hosts), 3))
	const day = 24 * time.Hour
	versions := []struct {
		version string
		by      float64
	}{{"1.4.1", 1}, {"1.4.2", times}}
	a := &asked{opt: Options{Since: day}, at: time.Unix(1_800_000_000, 0)}
	a.from = a.at.Add(-day)
	for h := range hosts {
		usual := .002 * math.Exp(.3*random.NormFloat64())
		for _, v := range versions {
			a.uses = append(a.uses, use{service: "shop", host: fmt.Sprint("web-", h), version: v.version, requests: requests,
				slow: requests * usual * v.by * math.Exp(.1*random.NormFloat64())})
		}
	}
	step := stepOf(day)
	for _, v := range versions {
		labels := map[string]string{names.Service: "shop", names.Version: v.version}
		slow, served := promql.Series{Labels: labels}, promql.Series{Labels: labels}
		for i := 1; i <= moments; i++ {
			if (i > moments/2) != (v.version == "1.4.2") {
				continue
			}
			at := float64(a.from.Add(time.Duration(i) * step).Unix())
			n := requests * float64(hosts) / (moments / 2)
			slow.Points = append(slow.Points, promql.Point{At: at, Value: n * .002 * v.by * math.Exp(.1*random.NormFloat64())})
			served.Points = append(served.Points, promql.Point{At: at, Value: n})
		}
		a.seconds, a.served = append(a.seconds, slow), append(a.served, served)
	}
	return a
}

func TestVersions(t *testing.T) {
	for _, c := range []struct {
		name   string
		a      *asked
		result string
		pairs  int
	}{
		{"worse", rollout(20, 2.5, 100_000), "worse", 20},
		{"better", rollout(20, .4, 100_000), "better", 20},
		{"the same", rollout(40, 1, 100_000), "same", 40},
		{"too few hosts", rollout(4, 2.5, 100_000), "unclear", 4},
		{"too few requests", rollout(20, 2.5, 30), "unclear", 0},
	} {
		all := c.a.compareVersions()
		if len(all) != 1 {
			t.Fatalf("%s: %+v", c.name, all)
		}
		v := all[0]
		if v.Version != "1.4.2" || v.Before != "1.4.1" || v.Result != c.result || v.Pairs != c.pairs {
			t.Errorf("%s: %+v", c.name, v)
		}
		if c.result == "worse" && (*v.Low > 2.5 || *v.High < 2.5 || *v.Low < 2 || v.Of != "hosts" || !v.Since.Equal(c.a.from.Add(moments/2*stepOf(c.a.opt.Since)))) {
			t.Errorf("%s: %g (%g–%g) since %s", c.name, *v.Factor, *v.Low, *v.High, v.Since)
		}
	}
}

// TestCanary compares a version with the version that runs beside it on other hosts, moment by moment.
func TestCanary(t *testing.T) {
	a := rollout(20, 3, 100_000)
	for i := range a.uses {
		a.uses[i].host += a.uses[i].version // no host ran both
	}
	for _, all := range [][]promql.Series{a.seconds, a.served} {
		for i := range all {
			for j := range all[i].Points {
				all[i].Points[j].At = float64(a.from.Add(time.Duration(j+1) * stepOf(a.opt.Since)).Unix())
			}
		}
	}
	v := a.compareVersions()[0]
	if v.Of != "moments" || v.Pairs != moments/2 || v.Factor == nil || (v.Before == "1.4.1") != (*v.Factor > 1) || v.Result == "unclear" {
		t.Errorf("%+v", v)
	}
}

func TestChanges(t *testing.T) {
	a := rollout(20, 2.5, 100_000)
	all := a.findChanges()
	if len(all) != 1 {
		t.Fatalf("%+v", all)
	}
	c := all[0]
	if c.Version != "1.4.2" || !c.At.Equal(a.from.Add(moments/2*stepOf(a.opt.Since))) || c.After < 2*c.Before || c.Per != perRequests {
		t.Errorf("%+v", c)
	}
	if all := rollout(20, 1.1, 100_000).findChanges(); len(all) != 0 {
		t.Errorf("%+v", all)
	}
}
