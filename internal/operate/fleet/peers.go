package fleet

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/operate/watch/exporter/names"
)

// Unlike is a host on which a service is slower than on the others that run it.
type Unlike struct {
	Host      string  `json:"host"`
	Service   string  `json:"service"`
	SlowS     float64 `json:"slow_s"`
	Rate      float64 `json:"rate"`         // its slow time, in Per
	Peers     float64 `json:"peers_median"` // that of all hosts of the service
	Per       string  `json:"per"`          // "s_per_1000_requests", or "s_per_hour" where requests are not counted
	Of        int     `json:"of_hosts"`     // that run the service
	Score     float64 `json:"score"`        // robust standard deviations from the median, of logarithms
	Bound     float64 `json:"bound"`        // what chance reaches among so many
	Mechanism string  `json:"mechanism"`    // that makes most of its slow time, "" unknown
	Title     string  `json:"title"`        // the mechanism in words
	Share     float64 `json:"mechanism_share"`
}

// Bounds from which a host is unlike its peers.
const (
	leastPeers    = 5    // hosts of a service: with fewer, a host under test moves the median itself
	leastRequests = 1000 // of a host, so that its slow time per request means something
	leastTimes    = 2    // times the median of its peers: smaller factors can be told from chance, but need no action
	leastLoss     = 3.6  // slow s per hour beyond its peers: a thousandth of the time
	mostUnlike    = 20   // hosts reported, the furthest off first
)

// The units of rates.
const (
	perRequests = "s_per_1000_requests"
	perHour     = "s_per_hour"
)

// findUnlikeHosts returns the hosts whose slow time lies beyond that of their peers, the furthest off first. It
// compares rates as logarithms, because hosts differ by factors. It adds an amount too small to matter, so that
// hosts without slow time have a logarithm.
func findUnlikeHosts(uses []use, window time.Duration) (all []Unlike) {
	for service := range chunkBy(uses, func(x, y use) bool { return x.service == y.service }) {
		var hosts []use
		for of := range chunkBy(service, func(x, y use) bool { return x.host == y.host }) {
			u := use{service: of[0].service, host: of[0].host}
			for _, v := range of {
				u.slow += v.slow
				u.requests += v.requests
			}
			hosts = append(hosts, u)
		}
		all = append(all, unlikeOf(hosts, window)...)
	}
	sorting.Short(all, func(x, y Unlike) int {
		return cmp.Or(cmp.Compare(y.Score, x.Score), cmp.Compare(x.Service, y.Service), cmp.Compare(x.Host, y.Host))
	})
	return all[:min(len(all), mostUnlike)]
}

func unlikeOf(hosts []use, window time.Duration) (all []Unlike) {
	per, unit := perRequests, 1000.
	if slices.ContainsFunc(hosts, func(u use) bool { return math.IsNaN(u.requests) }) {
		per, unit = perHour, 1
	} else {
		// A host with next to no requests is no peer.
		hosts = slices.DeleteFunc(hosts, func(u use) bool { return u.requests < leastRequests })
	}
	if len(hosts) < leastPeers {
		return nil
	}
	hours := window.Hours()
	rates, volumes := make([]float64, len(hosts)), make([]float64, len(hosts))
	for i, u := range hosts {
		volumes[i] = hours
		if per == perRequests {
			volumes[i] = u.requests / unit
		}
		rates[i] = u.slow / volumes[i]
	}
	median, least := stats.Median(rates), leastLoss*hours/stats.Median(volumes)
	logs := make([]float64, len(rates))
	for i, r := range rates {
		logs[i] = math.Log(r + least*least/(least+median)) // add less the more all hosts lose, because the amount would skew them
	}
	scores, bound := stats.Outliers(logs), stats.OutlierBound(len(hosts))
	for i, u := range hosts {
		beyond := (rates[i] - median) * volumes[i] / hours // s per hour
		if scores[i] > bound && rates[i] >= leastTimes*median && beyond >= leastLoss {
			all = append(all, Unlike{Host: u.host, Service: u.service, SlowS: u.slow, Rate: rates[i], Peers: median, Per: per, Of: len(hosts), Score: scores[i], Bound: bound})
		}
	}
	return all
}

// explainUnlike asks the store which mechanism makes most of the slow time on each unlike host.
func (a *asked) explainUnlike(ctx context.Context, all []Unlike) error {
	if len(all) == 0 {
		return nil
	}
	var hosts []string
	for _, u := range all {
		hosts = append(hosts, regexp.QuoteMeta(u.Host))
	}
	q := fmt.Sprintf("sum by (%s, %s, %s) (increase(%s[%s]))", names.Service, names.Host, names.Mechanism,
		a.formatSelector(names.SlowSeconds, names.Host+"=~"+strconv.Quote(strings.Join(hosts, "|"))), formatPromDuration(a.opt.Since))
	rows, err := a.store.Query(ctx, q, a.at)
	if err != nil {
		return err
	}
	for _, x := range rows {
		for i := range all {
			u := &all[i]
			if u.Host == x.Labels[names.Host] && u.Service == x.Labels[names.Service] && u.SlowS > 0 && x.Value/u.SlowS > u.Share {
				u.Mechanism, u.Share = x.Labels[names.Mechanism], min(1, x.Value/u.SlowS)
				u.Title = titleOf(u.Mechanism)
			}
		}
	}
	return nil
}

// chunkBy yields runs of consecutive elements that are alike.
func chunkBy[T any](all []T, alike func(x, y T) bool) func(yield func([]T) bool) {
	return func(yield func([]T) bool) {
		for from, i := 0, 1; i <= len(all); i++ {
			if i == len(all) || !alike(all[from], all[i]) {
				if !yield(all[from:i:i]) {
					return
				}
				from = i
			}
		}
	}
}
