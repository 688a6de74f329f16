package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/lab"
)

// costRounds is how many times each way of recording is measured.
const costRounds = 3

// way is one way to record; without arguments nothing is recorded.
type way struct {
	name string
	args []string // of unstall record
}

// cost is the cost of a way in each round: milliseconds, and CPUs.
type cost struct{ p50, p99, perRequest, recorder []float64 }

// measureCosts puts the same load on each healthy service repeatedly, without a recording and with each way of recording, and writes the
// medians: the latency of its first load's clients, the CPU time of its processes per request, and the CPUs that the recorder used.
func measureCosts(ctx context.Context, o options) (pass bool, err error) {
	services, err := chosenServices(o, nil)
	if err != nil {
		return false, err
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "service\trecorded\tp50 ms\tp99 ms\tCPU ms a request\trecorder, CPUs")
	pass = true
	for _, s := range services {
		if !s.Known.Healthy {
			continue
		}
		ways := []way{{name: "no"}, {"yes", []string{"--no-jfr"}}}
		if strings.HasPrefix(s.Known.Runtime, "jvm") {
			ways = append(ways, way{"with --jfr", []string{"--jfr"}})
		}
		costs := make([]cost, len(ways))
		_, err := withService(ctx, o, s, func(st *stage) error { return st.measureWays(ctx, ways, costs) })
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		if err != nil {
			pass = false
			fmt.Fprintf(w, "%s\t%v\n", s.Name, err)
		}
		for n, c := range costs {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", s.Name, ways[n].name, medianOf(c.p50), medianOf(c.p99), medianOf(c.perRequest), medianOf(c.recorder))
		}
		w.Flush()
	}
	return pass, nil
}

// measureWays measures each way in each round, in an order in which a way does not always follow the same one.
func (st *stage) measureWays(ctx context.Context, ways []way, costs []cost) error {
	if err := st.warmUp(ctx, 1); err != nil {
		return err
	}
	for round := range costRounds {
		for n := range ways {
			n = (n + round) % len(ways)
			if err := st.measureWay(ctx, ways[n], &costs[n]); err != nil {
				return fmt.Errorf("recorded: %s: %w", ways[n].name, err)
			}
		}
	}
	return st.checkAlive()
}

// measureWay measures one way once.
func (st *stage) measureWay(ctx context.Context, by way, c *cost) error {
	var senders []*sender
	defer func() {
		for _, x := range senders {
			x.Stop()
		}
	}()
	before := st.usedCPUSeconds()
	for n, d := range st.Known.Load {
		x, err := st.startLoad(n, d, st.options.costs, false, 1)
		if err != nil {
			return err
		}
		senders = append(senders, x)
	}
	recorder := 0.
	if by.args != nil {
		capture := filepath.Join(st.dir, "cost.unstall")
		args := append([]string{"record", strconv.Itoa(st.target.PID), "--for", st.options.costs.String(), "--capture", capture}, by.args...)
		err := os.Remove(capture) // of the round before
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		if recorder, err = st.runUnstall(ctx, "record", args...); err != nil {
			return err
		}
	}
	answered := int64(0)
	for n, x := range senders {
		if err := x.Wait(ctx); err != nil {
			return err
		}
		r, err := x.readResult()
		if err != nil {
			return err
		}
		answered += r.Completed
		if n == 0 && r.Latency.P50 != nil && r.Latency.P99 != nil {
			c.p50, c.p99 = append(c.p50, *r.Latency.P50), append(c.p99, *r.Latency.P99)
		}
	}
	c.perRequest = append(c.perRequest, (st.usedCPUSeconds()-before)*1e3/float64(max(answered, 1)))
	c.recorder = append(c.recorder, recorder/st.options.costs.Seconds())
	return nil
}

// usedCPUSeconds returns the CPU time of the service's processes so far, s.
func (st *stage) usedCPUSeconds() (sum float64) {
	for _, pid := range processTree(st.target.PID) {
		sum += lab.CPUSeconds(pid)
	}
	return sum
}

func medianOf(v []float64) string {
	if len(v) == 0 {
		return "—"
	}
	return fmt.Sprintf("%.3g", stats.Median(v))
}
