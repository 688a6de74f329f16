package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/unstall/unstall/internal/collect/load"
)

// measureFaults puts each service under its load with its fault and then without it, and
// writes the clients' results. It records and diagnoses nothing.
func measureFaults(ctx context.Context, o options) (pass bool, err error) {
	services, err := chosenServices(o, nil)
	if err != nil {
		return false, err
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "service\tfault\tload\tanswered\tp50 ms\tp99 ms\tmax ms")
	pass = true
	for _, s := range services {
		for _, fault := range []string{"on", "off"} {
			one := s
			if fault == "off" {
				one = s.withoutFault()
			}
			if s.Known.Healthy {
				fault = "none"
			}
			lines, err := one.measureLoads(ctx, o)
			if err != nil {
				pass, lines = false, []string{err.Error()}
			}
			for _, line := range lines {
				fmt.Fprintf(w, "%s\t%s\t%s\n", s.Name, fault, line)
			}
			w.Flush()
			if s.Known.Healthy {
				break
			}
		}
	}
	return pass, ctx.Err()
}

// withoutFault returns the same service with FAULT=0 in the environment of all programs, and
// without the limits and the settings of known.json.
func (s service) withoutFault() service {
	if s.twin != nil {
		s.Known = *s.twin
		return s
	}
	s.Known.Quota, s.Known.Memory, s.Known.IOPS = 0, 0, 0
	s.Known.Env = map[string]string{"FAULT": "0"}
	beside := make([]beside, len(s.Known.Beside))
	for i, b := range s.Known.Beside {
		b.Env = maps.Clone(b.Env)
		if b.Env == nil {
			b.Env = make(map[string]string)
		}
		b.Env["FAULT"] = "0"
		beside[i] = b
	}
	s.Known.Beside = beside
	return s
}

// measureLoads runs a service and returns a line for each of its loads.
func (s service) measureLoads(ctx context.Context, o options) (lines []string, err error) {
	_, err = withService(ctx, o, s, func(st *stage) error {
		if err := st.warmUp(ctx, 1); err != nil {
			return err
		}
		var senders []*sender
		defer func() {
			for _, x := range senders {
				x.Stop()
			}
		}()
		for n, d := range st.Known.Load {
			x, err := st.startLoad(n, d, o.faults, false, 1)
			if err != nil {
				return err
			}
			senders = append(senders, x)
		}
		for n, x := range senders {
			if err := x.Wait(ctx); err != nil {
				return err
			}
			r, err := x.readResult()
			if err != nil {
				return err
			}
			d := st.Known.Load[n]
			lines = append(lines, fmt.Sprintf("%s\t%d of %d%s\t%s\t%s\t%s", strings.TrimSpace(d.Method+" "+d.Paths[0]),
				r.Completed, r.Offered, formatRefused(r.Codes), formatMilliseconds(r.Latency.P50), formatMilliseconds(r.Latency.P99), formatMilliseconds(r.Latency.Max)))
		}
		if len(senders) == 0 { // separate programs are its clients
			select {
			case <-time.After(o.faults):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return errors.Join(st.checkAlive(), ctx.Err())
	})
	return lines, err
}

// formatRefused says how many responses had an error status.
func formatRefused(codes load.Codes) (text string) {
	if codes.ClientError > 0 {
		text += fmt.Sprintf(", %d × 4xx", codes.ClientError)
	}
	if codes.ServerError > 0 {
		text += fmt.Sprintf(", %d × 5xx", codes.ServerError)
	}
	return text
}

func formatMilliseconds(v *float64) string {
	if v == nil {
		return "—"
	}
	return fmt.Sprintf("%.3g", *v)
}
