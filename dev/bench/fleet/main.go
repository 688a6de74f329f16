// Command fleet measures how long `unstall fleet` takes for many hosts: it writes series of
// simulated hosts (package internal/operate/fleet/fleettest) to a VictoriaMetrics of its own, ranks them, and
// compares the report with their known state.
//
//	go run ./dev/bench/fleet                                  10,000 hosts × 60 series, an hour by minutes
//	go run ./dev/bench/fleet -window 24h -step 5m             a day
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/unstall/unstall/dev/bench/table"
	"github.com/unstall/unstall/internal/operate/fleet"
	"github.com/unstall/unstall/internal/operate/fleet/fleettest"
	"github.com/unstall/unstall/internal/operate/fleet/promql"
)

var (
	hosts  = flag.Int("hosts", 10_000, "how many")
	series = flag.Int("series", 60, "of each")
	window = flag.Duration("window", time.Hour, "how long they wrote")
	step   = flag.Duration("step", time.Minute, "how often")
	times  = flag.Int("times", 7, "how often they are ranked")
	budget = flag.Duration("budget", 2*time.Second, "that one may take")
)

func main() {
	flag.Parse()
	if err := measureRanking(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "fleet:", err)
		os.Exit(1)
	}
}

func measureRanking(ctx context.Context) error {
	path, err := fleettest.Find(".", "victoriametrics")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "unstall-fleet-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s, err := fleettest.VictoriaMetrics(ctx, path, dir, "-search.maxUniqueTimeseries=2000000")
	if err != nil {
		return err
	}
	defer s.Stop()
	until := time.Now().Truncate(time.Minute)
	f := &fleettest.Fleet{Hosts: *hosts, Series: *series, From: until.Add(-*window), Until: until, Step: *step}
	began := time.Now()
	if err := importFleet(s, f); err != nil {
		return err
	}
	samples := float64(*hosts) * float64(*series) * float64(len(f.Steps()))
	fmt.Printf("wrote %d hosts × %d series × %d samples = %.1f million in %.0f s\n", *hosts, *series, len(f.Steps()), samples/1e6, time.Since(began).Seconds())

	store, err := promql.Open(s.Address, "")
	if err != nil {
		return err
	}
	var took []time.Duration
	for n := range *times {
		began := time.Now()
		r, err := fleet.Of(ctx, store, fleet.Options{Since: *window, Now: time.Now()})
		if err != nil {
			return err
		}
		took = append(took, time.Since(began))
		fmt.Printf("ranked %d hosts in %.2f s: %d unlike their peers, %d versions, first %s\n", r.Hosts, took[n].Seconds(), len(r.Unlike), len(r.Versions), r.Causes[0].Cause)
		if r.Hosts != *hosts || r.Causes[0].Cause != fleettest.Most || len(r.Versions) != 1 || r.Versions[0].Result != "worse" {
			return fmt.Errorf("what is said is not what is known of the fleet: %+v", r.Versions)
		}
		for _, u := range r.Unlike {
			var host int
			if _, err := fmt.Sscanf(u.Host, "host-%d", &host); err != nil || !fleettest.Unlike(host) {
				return fmt.Errorf("%s is told as unlike its peers and is not", u.Host)
			}
		}
		if n == 0 {
			for _, q := range r.Asked {
				fmt.Printf("  %6.2f s  %s\n", q.Took.Seconds(), q.Query)
			}
		}
	}
	first := took[0]
	slices.Sort(took)
	fmt.Printf("ranking: first %.2f s, median %.2f s, longest %.2f s (at most %.0f s)\n", first.Seconds(), took[len(took)/2].Seconds(), took[len(took)-1].Seconds(), budget.Seconds())
	table.Add(table.Row{Work: fmt.Sprintf("Ranking %d hosts of %d series", *hosts, *series), Peer: table.Limit, Got: fmt.Sprintf("%.2f s", took[len(took)/2].Seconds()), Goal: fmt.Sprintf("≤ %.0f s", budget.Seconds()), Met: took[len(took)/2] <= *budget})
	if took[len(took)/2] > *budget {
		return fmt.Errorf("that is over budget")
	}
	return nil
}

// importFleet imports the fleet's series in batches, two at a time.
func importFleet(s *fleettest.Store, f *fleettest.Fleet) error {
	const batch = 50
	next := make(chan int)
	var all sync.WaitGroup
	errs := make(chan error, 2)
	for range 2 {
		all.Go(func() {
			for from := range next {
				if err := s.Import(f, from, min(from+batch, f.Hosts)); err != nil {
					select {
					case errs <- err:
					default:
					}
				}
			}
		})
	}
	for from := 0; from < f.Hosts; from += batch {
		next <- from
	}
	close(next)
	all.Wait()
	select {
	case err := <-errs:
		return err
	default:
	}
	return s.Flush()
}
