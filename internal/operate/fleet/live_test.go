package fleet_test

import (
	"context"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/dev/tools/tooltest"
	"github.com/unstall/unstall/internal/operate/fleet"
	"github.com/unstall/unstall/internal/operate/fleet/fleettest"
	"github.com/unstall/unstall/internal/operate/fleet/promql"
)

// stores are real stores with a simulated day in them.
var stores = map[string]func(t *testing.T, f *fleettest.Fleet) *fleettest.Store{
	"victoriametrics": func(t *testing.T, f *fleettest.Fleet) *fleettest.Store {
		path := tooltest.Find(t, "victoriametrics")
		s, err := fleettest.VictoriaMetrics(context.Background(), path, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Stop)
		if err := s.Import(f, 0, f.Hosts); err != nil {
			t.Fatal(err)
		}
		if err := s.Flush(); err != nil {
			t.Fatal(err)
		}
		return s
	},
	"prometheus": func(t *testing.T, f *fleettest.Fleet) *fleettest.Store {
		path := tooltest.Find(t, "prometheus")
		promtool := filepath.Join(filepath.Dir(path), "root/usr/bin/promtool")
		if _, err := os.Stat(promtool); err != nil {
			if promtool, err = exec.LookPath("promtool"); err != nil {
				t.Skip(err)
			}
		}
		dir := t.TempDir()
		text, err := os.Create(filepath.Join(dir, "fleet.om"))
		if err != nil {
			t.Fatal(err)
		}
		if err := f.OpenMetrics(text); err != nil {
			t.Fatal(err)
		}
		if err := text.Close(); err != nil {
			t.Fatal(err)
		}
		data := filepath.Join(dir, "data")
		if out, err := exec.Command(promtool, "tsdb", "create-blocks-from", "openmetrics", "-q", text.Name(), data).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		s, err := fleettest.Prometheus(context.Background(), path, data)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Stop)
		return s
	},
}

// TestStores ranks a simulated fleet with known faults from real stores.
func TestStores(t *testing.T) {
	until := time.Now().Truncate(time.Minute)
	f := &fleettest.Fleet{Hosts: 160, Series: 36, From: until.Add(-6 * time.Hour), Until: until, Step: 5 * time.Minute}
	for name, start := range stores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, f)
			store, err := promql.Open(s.Address, "")
			if err != nil {
				t.Fatal(err)
			}
			r, err := fleet.Of(t.Context(), store, fleet.Options{Since: 6 * time.Hour, Now: time.Now()})
			if err != nil {
				t.Fatal(err)
			}
			hold(t, f, r)
			one, err := fleet.Of(t.Context(), store, fleet.Options{Since: 6 * time.Hour, Service: fleettest.WorseService})
			if err != nil {
				t.Fatal(err)
			}
			if len(one.Services) != 1 || one.Hosts != f.Hosts/fleettest.Services {
				t.Errorf("of one service: %d services on %d hosts", len(one.Services), one.Hosts)
			}
			_, err = fleet.Of(t.Context(), store, fleet.Options{Since: time.Hour, Service: "servce-3"})
			if err == nil || !strings.Contains(err.Error(), ": did you mean service-") {
				t.Errorf("a mistyped service: %v", err)
			}
		})
	}
}

// hold checks that a report shows the known facts of a fleet.
func hold(t *testing.T, f *fleettest.Fleet, r *fleet.Report) {
	t.Helper()
	var want, got []string
	for h := range f.Hosts {
		if fleettest.Unlike(h) {
			want = append(want, fleettest.Name(h))
		}
	}
	for _, u := range r.Unlike {
		got = append(got, u.Host)
		if u.Mechanism != "generator_lag" || u.Rate < 10*u.Peers {
			t.Errorf("%+v", u)
		}
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("unlike are %v, want %v", got, want)
	}
	if r.Hosts != f.Hosts || len(r.Services) != fleettest.Services || len(r.Causes) == 0 || r.Causes[0].Cause != fleettest.Most || r.Causes[0].Hosts != f.Hosts {
		t.Errorf("%d hosts, %d services, causes %+v", r.Hosts, len(r.Services), r.Causes)
	}
	var sum float64
	for _, m := range r.Mechanisms {
		sum += m.SlowS
	}
	if math.Abs(sum-r.SlowS) > 1e-6*r.SlowS || r.SlowS == 0 {
		t.Errorf("mechanisms add up to %g s of %g", sum, r.SlowS)
	}
	if c := r.Causes[0].SlowS / r.SlowS; math.Abs(c-.6) > .02 {
		t.Errorf("%s makes %g of it, it was given .6", fleettest.Most, c)
	}
	if len(r.Versions) != 1 {
		t.Fatalf("%+v", r.Versions)
	}
	v := r.Versions[0]
	if v.Service != fleettest.WorseService || v.Version != fleettest.After || v.Result != "worse" || v.Low == nil || *v.Low > fleettest.Times+.1 || *v.High < fleettest.Times-.1 || v.Since.Sub(f.From.Add(f.Until.Sub(f.From)/2)).Abs() > 20*time.Minute {
		t.Errorf("%+v", v)
	}
	if !slices.ContainsFunc(r.Changes, func(c fleet.Change) bool {
		return c.Service == fleettest.WorseService && c.Version == fleettest.After && c.After > 2*c.Before
	}) || len(r.Changes) != 1 {
		t.Errorf("changes %+v", r.Changes)
	}
	if len(r.Warnings) != 0 {
		t.Errorf("warnings %q", r.Warnings)
	}
}
