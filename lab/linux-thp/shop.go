package linuxthp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/unstall/unstall/lab"
)

// The other half of the report: a shop of nginx, PHP-FPM and Redis, recorded together as one would
// with unstall 'nginx|php-fpm|redis' --load URL.

const pool = "service.pool-exhausted"

// shopRate is what the shop is asked, requests/s: some fifth of two CPUs is busy with it, and it takes
// 2.1 workers at once, nearly all for what the carrier takes to answer.
const shopRate = 100

// shopSLO is what a page may take: four times the longest.
const shopSLO = 160 * time.Millisecond

// tools are what the shop is made of, by the flags it takes them by.
var (
	tools    = []string{"nginx", "php", "redis"}
	shopArgs = []string{"-nginx={nginx}", "-php={php}", "-redis={redis}", "-files={files}"}
)

// journey is what visitors ask for: product pages with their resources, carts, and what sending costs,
// for which a carrier is asked.
var journey = []string{
	"/product/3", "/delivery", "/static/shop.css", "/delivery", "/product/17", "/delivery", "/cart/add", "/delivery", "/", "/delivery", "/static/logo.png", "/delivery", "/cart", "/delivery",
	"/product/140", "/delivery",
}

// shop is the shop in one condition.
func shop(name, about string, args ...string) lab.Variant {
	return lab.Variant{Name: name, About: about, Program: "shop", Args: slices.Concat(shopArgs, args), Needs: tools, Paths: journey, Rate: shopRate, SLO: shopSLO, Resident: 300}
}

func expect(v lab.Variant, e lab.Expected) lab.Variant {
	v.Expected = e
	return v
}

func at(rate float64, v lab.Variant) lab.Variant {
	v.Rate = rate
	return v
}

var healthy = lab.Expected{NoneOf: lab.Anything(host...), Not: []string{}}

// shops come before memory is put in pieces.
var shops = []lab.Variant{
	expect(shop("shop", "a shop of nginx, PHP-FPM and Redis, with workers enough"), healthy),
	expect(shop("shop-workers", "the shop, with 2 PHP workers where 2.1 are needed", "-workers=2"), lab.Expected{First: pool, Not: []string{stall, softirq, sync, reclaim}}),
	expect(at(2*shopRate, shop("shop-peak", "the shop with workers enough, at twice the load")), healthy),
}

// moves are what the blocks do not measure: PHP asks Redis over TCP and over a UNIX socket. After that the
// host's settings must be as they were.
func moves(s *lab.Stand) (all []lab.Check, err error) {
	if all, err = sockets(s); err != nil {
		return all, err
	}
	as, err := asItWas(s)
	return append(all, as...), err
}

// pairs are how often the two are measured, in turn, in an order of chance: six decide a sign test.
const pairs = 6

// sockets measures what Redis over a UNIX socket changes against TCP. The report found "slightly
// steadier"; whatever it is here is told.
func sockets(s *lab.Stand) ([]lab.Check, error) {
	unix, tcp := shop("shop-unix", "PHP asks Redis over a UNIX socket"), shop("shop-tcp", "PHP asks Redis over TCP", "-tcp")
	unix.Paths = []string{"/product/3", "/product/17", "/", "/product/140", "/cart"} // that ask Redis, and nobody else
	tcp.Paths = unix.Paths
	long := 8 * time.Second
	if s.Quick() {
		long = 1500 * time.Millisecond
	}
	cpu, median := make([]float64, 0, pairs), make([]float64, 0, pairs)
	err := s.With(unix, func(one *lab.Service) error {
		return s.With(tcp, func(other *lab.Service) error {
			both := []*lab.Service{one, other}
			for pair := -1; pair < pairs; pair++ { // the first warms up
				var got [2]figures
				first := rand.IntN(2)
				for _, k := range []int{first, 1 - first} {
					x, err := measured(s, both[k], lab.Demand{Rate: shopRate, For: long, Seed: uint64(pair + 2), SLO: shopSLO})
					if err != nil {
						return err
					}
					got[k] = x
				}
				if pair >= 0 {
					cpu, median = append(cpu, got[0].cpu/got[1].cpu-1), append(median, got[0].p50/got[1].p50-1)
				}
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	return []lab.Check{
		change("shop: CPU time per second, Redis over a UNIX socket against TCP", cpu),
		change("shop: median of a request, Redis over a UNIX socket against TCP", median),
	}, nil
}

// figures are what a run shows.
type figures struct{ cpu, p50 float64 }

func measured(s *lab.Stand, one *lab.Service, d lab.Demand) (x figures, err error) {
	before, err := one.Command("state")
	if err != nil {
		return x, err
	}
	got, err := s.Drive(s.Context(), one, d)
	if err != nil {
		return x, err
	}
	after, err := one.Command("state")
	if err != nil {
		return x, err
	}
	seconds := float64(after.Time-before.Time) / 1e9
	return figures{(after.UserSeconds + after.SysSeconds - before.UserSeconds - before.SysSeconds) / seconds, got.P50}, nil
}

// change is the mean of relative changes, with its interval of 95 % (Student's, 5 degrees of freedom); it
// is told and fails nothing.
func change(name string, all []float64) lab.Check {
	const student = 2.571
	mean, spread := 0., 0.
	for _, v := range all {
		mean += v / float64(len(all))
	}
	for _, v := range all {
		spread += (v - mean) * (v - mean) / float64(len(all)-1)
	}
	half := student * math.Sqrt(spread/float64(len(all)))
	low, high := mean-half, mean+half
	c := lab.Check{Name: name, Unit: "1", Asked: "told, whatever it is", Got: &mean, Low: &low, High: &high, OK: true, Told: true}
	if low <= 0 && high >= 0 {
		c.Why = fmt.Sprintf("no difference is shown by %d pairs", len(all))
	}
	return c
}
