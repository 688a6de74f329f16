package present

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/operate/compare"
	"github.com/unstall/unstall/internal/operate/experiment"
	"github.com/unstall/unstall/internal/present/text"
)

// tried is a try of so many blocks in which system time went by a factor.
func tried(t *testing.T, blocks int, factor float64) *experiment.Result {
	t.Helper()
	r := &experiment.Result{Schema: experiment.Schema, Setting: "thp", File: "/sys/kernel/mm/transparent_hugepage/enabled", Affects: "every process of this host", Host: true,
		Was: "always", Tried: "never", Planned: 6, TurnS: 5, SettleS: 1, Seed: 7, Restored: &experiment.Restored{Now: "always", Was: "always"}}
	var was, is []compare.Run
	for i := range blocks {
		at := time.Date(2026, 11, 20, 12, i, 0, 0, time.UTC)
		v := 1 + .05*float64(i%3)
		was = append(was, compare.Run{Name: "was", Start: at, Metrics: map[string]float64{"system_cores": v, "cpu_cores": 2}})
		is = append(is, compare.Run{Name: "is", Start: at.Add(5 * time.Second), Metrics: map[string]float64{"system_cores": v * factor, "cpu_cores": 2}})
	}
	if err := r.Compare(was, is); err != nil {
		t.Fatal(err)
	}
	return r
}

func tryTexts(t *testing.T, r *experiment.Result) (string, []string) {
	t.Helper()
	var b bytes.Buffer
	if err := (text.Options{Width: 300}).Try(&b, r); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	return lines[0], lines
}

func TestTry(t *testing.T) {
	for _, x := range []struct {
		blocks int
		factor float64
		want   string
	}{
		{6, .4, "thp=never instead of always: changed: process CPU, system −60 % (−60 to −60)"},
		{6, 2, "thp=never instead of always: changed: process CPU, system +100 % (+100 to +100)"},
		{6, 1, "thp=never instead of always: no significant difference in 6 blocks"},
		{2, .4, "thp=never instead of always: unclear: 2 blocks, at least 6 needed"},
	} {
		if got, _ := tryTexts(t, tried(t, x.blocks, x.factor)); got != x.want {
			t.Errorf("%d blocks, %g times: %s", x.blocks, x.factor, got)
		}
	}
	r := tried(t, 6, .4)
	find := func(label string) string {
		_, lines := tryTexts(t, r)
		for _, l := range lines {
			if rest, ok := strings.CutPrefix(l, label); ok {
				return strings.TrimSpace(rest)
			}
		}
		return ""
	}
	if got := find("CHANGED"); got != "thp (/sys/kernel/mm/transparent_hugepage/enabled) of every process of this host: never alternating with always, 6 blocks of two turns of 5 s in random order (--seed 7), the first 1 s of each not counted" {
		t.Error(got)
	}
	for _, x := range []struct {
		restored *experiment.Restored
		want     string
	}{
		{&experiment.Restored{Now: "always", Was: "always"}, "yes: read back, thp is always again"},
		{&experiment.Restored{Now: "madvise", Was: "always", Kept: true}, "no: another process changed thp to madvise, and unstall did not overwrite that (it was always before)"},
		{&experiment.Restored{Was: "always", Gone: true}, "thp no longer exists: its process has ended"},
		{nil, "no: thp was always: set it yourself"},
	} {
		r.Restored = x.restored
		if got := find("RESTORED"); got != x.want {
			t.Error(got)
		}
	}
	if r.Early = "interrupted"; !strings.HasSuffix(find("CHANGED"), "the first 1 s of each not counted; 6 were planned: interrupted") {
		t.Error(find("CHANGED"))
	}
	form, err := Choose("json", "", Look{})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := form.Try(&b, r); err != nil {
		t.Fatal(err)
	}
	var back map[string]any
	if err := json.Unmarshal(b.Bytes(), &back); err != nil || back["schema"] != experiment.Schema || back["restored"] != nil || back["comparison"] == nil || back["tried"] != "never" {
		t.Errorf("%v: %s", err, &b)
	}
}
