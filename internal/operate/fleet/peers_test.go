package fleet

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// hosts returns hosts of a service whose slow time per request differs by chance as real machines do: by factors,
// a third of them by more than half.
func hosts(random *rand.Rand, n int, requests float64) []use {
	all := make([]use, n)
	for i := range all {
		load := requests * math.Exp(.2*random.NormFloat64())
		all[i] = use{service: "shop", host: fmt.Sprintf("web-%05d", i), slow: load * .002 * math.Exp(.5*random.NormFloat64()), requests: load}
	}
	return all
}

func hostsOf(all []Unlike) (out []string) {
	for _, u := range all {
		out = append(out, u.Host)
	}
	slices.Sort(out)
	return out
}

func TestUnlike(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	all := hosts(random, 10_000, 200_000)
	for i, by := range map[int]float64{17: 12, 4711: 30, 9999: 100} {
		all[i].slow = all[i].requests * .002 * by
	}
	all[5].slow, all[6].requests, all[6].slow = 0, 10, 400 // one host lost nothing, one has next to no requests
	got := findUnlikeHosts(all, 24*time.Hour)
	if want := []string{"web-00017", "web-04711", "web-09999"}; !slices.Equal(hostsOf(got), want) {
		t.Fatalf("unlike are %v, want %v", hostsOf(got), want)
	}
	u := got[0]
	if u.Host != "web-09999" || u.Per != perRequests || math.Abs(u.Rate-200) > 1e-6 || u.Peers < 1.8 || u.Peers > 2.2 || u.Of != 9999 || u.Score < u.Bound || u.Bound < 4.4 {
		t.Errorf("%+v", u)
	}
}

// TestAllAlike checks that chance alone makes no host unlike its peers, however many hosts there are.
func TestAllAlike(t *testing.T) {
	alarms := 0
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 1))
		alarms += len(findUnlikeHosts(hosts(random, 30+int(seed)*50, 200_000), 24*time.Hour))
	}
	if alarms > 6 {
		t.Errorf("%d of 90,000 hosts that are all alike, in 60 services, are told as unlike", alarms)
	}
}

// TestUnlikeLittle checks that slow time too small to matter, or from too few hosts, is not reported. If all other
// hosts lost nothing, a host that lost time is reported.
func TestUnlikeLittle(t *testing.T) {
	of := func(slow ...float64) (all []use) {
		for i, s := range slow {
			all = append(all, use{service: "shop", host: fmt.Sprint("web-", i), slow: s, requests: 100_000})
		}
		return all
	}
	for _, c := range []struct {
		name string
		uses []use
		want []string
	}{
		{"too little", of(0, 0, 0, 0, 0, 0, 0, 40), nil}, // 40 s of a day
		{"too few", of(0, 0, 0, 9000), nil},
		{"one alone", of(0, 0, 0, 0, 0, 0, 0, 9000), []string{"web-7"}},
		{"half of them", of(10, 12, 11, 10, 12, 9000, 9100, 9050, 9000, 9020), nil},
		{"faster", of(5000, 5100, 5050, 5000, 5020, 5010, 10), nil},
	} {
		if got := hostsOf(findUnlikeHosts(c.uses, 24*time.Hour)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	uncounted := of(10, 12, 11, 10, 12, 9000)
	for i := range uncounted {
		uncounted[i].requests = math.NaN()
	}
	if got := findUnlikeHosts(uncounted, 24*time.Hour); len(got) != 1 || got[0].Per != perHour || got[0].Rate != 375 {
		t.Errorf("without counts of requests: %+v", got)
	}
}
