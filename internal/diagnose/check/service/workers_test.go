package service

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/format"
	hikari "github.com/unstall/unstall/internal/format/gauges"
	"github.com/unstall/unstall/internal/format/phpfpm"
)

// Requests that come at even times and keep a worker for three such times need three, those that come in
// pairs twice as many, and none is added where none is short.
func TestEnough(t *testing.T) {
	even := func(n, at int) (p passed) {
		for i := range n {
			for range at {
				p.rows, p.arrive, p.demand = append(p.rows, i), append(p.arrive, int64(i)*10e6), append(p.demand, 30e6-1)
			}
		}
		return p
	}
	for _, c := range []struct {
		p    passed
		now  float64
		want int
	}{{even(1000, 1), 2, 3}, {even(1000, 2), 2, 6}, {even(1000, 1), 8, 8}, {even(20, 1), 2, 0}} {
		n, p99, least := c.p.findEnough(c.now)
		if n != c.want || n > 0 && (least != 30e6-1 || float64(p99) > nearlyNone*float64(least)) {
			t.Errorf("of %v: %d workers, p99 %d, without waits %d; want %d", c.now, n, p99, least, c.want)
		}
	}
}

// judgedPool is what is said of the pools that texts tell of, each a file.
func judgedPool(t *testing.T, texts ...string) check.Verdict {
	t.Helper()
	b := evidence.NewBundle()
	for i, text := range texts {
		a := &format.Artifact{Name: fmt.Sprint(i), Size: int64(len(text)), Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
		if err := format.Read(context.Background(), []format.Format{hikari.Log, phpfpm.Log, phpfpm.Both}, a, b); err != nil {
			t.Fatal(err)
		}
	}
	b.Unify()
	b.Align()
	return PoolExhausted.Judge(&check.Case{Bundle: b})
}

// Without requests a pool is exhausted if some gave up waiting for it, if it always had a long queue, or if it had all
// workers it may have again and again, or while all of them were busy.
func TestPoolAlone(t *testing.T) {
	failure := func(at, active, idle, waiting int) string {
		return fmt.Sprintf("2026-11-21 14:02:%02d,215 [job] DEBUG com.zaxxer.hikari.pool.HikariPool - orders - Timeout failure stats (total=%d, active=%d, idle=%d, waiting=%d)\n", at, active+idle, active, idle, waiting)
	}
	gauge := func(at, active, waiting int) string {
		return fmt.Sprintf("2026-11-21 14:%02d:00,215 [job] DEBUG com.zaxxer.hikari.pool.HikariPool - orders - Pool stats (total=8, active=%d, idle=%d, waiting=%d)\n", at, active, 8-active, waiting)
	}
	reached := func(at int) string {
		return fmt.Sprintf("[28-May-2026 10:%02d:11] WARNING: [pool www] server reached pm.max_children setting (5), consider raising it\n", at)
	}
	busy := func(active int) string {
		return fmt.Sprintf("[28-May-2026 10:32:12.101874] DEBUG: pid 1, fpm_pctl_perform_idle_server_maintenance(), line 379: [pool www] currently %d active children, %d spare children, 5 running children. Spawning rate 1\n", active, 5-active)
	}
	short := func(at, idle int) string {
		return fmt.Sprintf("[28-May-2026 10:%02d:13] WARNING: [pool www] seems busy (you may need to increase pm.start_servers, or pm.min/max_spare_servers), spawning 8 children, there are %d idle, and 4 total children\n", at, idle)
	}
	for name, x := range map[string]struct{ text, state, words string }{
		"none idle then":           {reached(32) + short(32, 0), check.Supported, "All 5 workers"},
		"some idle then":           {reached(32) + short(32, 1), check.Inconclusive, "once"},
		"none idle before":         {short(30, 0) + reached(32), check.Inconclusive, "once"},
		"gave up":                  {failure(1, 8, 0, 20) + failure(2, 8, 0, 25), check.Supported, "give up"},
		"gave up, by an exception": {"2026-11-21 14:02:31.100 ERROR o.h.SqlExceptionHelper : orders - Connection is not available, request timed out after 30003ms.\n", check.Supported, "after 30 s"},
		"no connection at all":     {failure(1, 0, 0, 3), check.Inconclusive, "opening them may fail"},
		"a queue at all times":     {gauge(1, 8, 6) + gauge(2, 8, 6) + gauge(3, 8, 7) + gauge(4, 8, 6) + gauge(5, 8, 9), check.Supported, "on average"},
		"a short queue":            {gauge(1, 8, 1) + gauge(2, 8, 1) + gauge(3, 8, 2) + gauge(4, 8, 1) + gauge(5, 8, 1), check.Inconclusive, "8 of 8"},
		"free ones":                {gauge(1, 2, 0) + gauge(2, 3, 0), check.RuledOut, "none waited"},
		"workers reached once":     {reached(1) + "[28-May-2026 14:00:00] NOTICE: Reloading in progress ...\n", check.Inconclusive, "once"},
		"reached, nothing else":    {reached(1), check.Supported, "probably"},
		"workers reached often":    {reached(1) + reached(9) + reached(20), check.Supported, "All 5 workers"},
		"workers reached and busy": {reached(32) + busy(5) + busy(0), check.Supported, "All 5 workers"},
		"workers reached and idle": {reached(31) + busy(2), check.Inconclusive, "once"},
	} {
		if v := judgedPool(t, x.text); v.State != x.state || !strings.Contains(v.Title+v.Summary, x.words) || v.State == check.Supported && (len(v.Fix) == 0 || !(v.Weight > 0)) {
			t.Errorf("%s: %s: %q %q", name, v.State, v.Title, v.Summary)
		}
	}
}
