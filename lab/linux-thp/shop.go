package linuxthp

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/unstall/unstall/lab"
)

// The other half of the report: a shop of nginx, PHP-FPM and Redis, recorded together as a user
// would with unstall 'nginx|php-fpm|redis' --load URL.

const (
	pool = "service.pool-exhausted"

	// Requests wait for Redis; the cause inside Redis is ranked behind this one and joined with it.
	dependency = "service.dependency-slow"

	slow  = "redis.slow-command"
	fsync = "redis.aof-fsync"
	fork  = "redis.fork"
)

// shopUsers is the rate of users, users/s of each of two kinds: they request 130 pages a second together, which
// use about a fifth of two CPUs and 2.1 workers on average, nearly all for the carrier's
// answers.
const shopUsers = 16

// busyUsers are a third more: they need 2.8 workers on average, and 2 are too few from the first seconds on.
const busyUsers = 21

// shopRate is the load without journeys, requests/s.
const shopRate = 100

// shopSLO is the latency objective of a page: four times the longest.
const shopSLO = 160 * time.Millisecond

// tools are the programs of the shop, by the flags that name them.
var (
	tools    = []string{"nginx", "php", "redis"}
	shopArgs = []string{"-nginx={nginx}", "-php={php}", "-redis={redis}", "-files={files}"}
)

// visits are the journeys of visitors: they look at product pages with their resources, fill carts, and ask for the
// cost of delivery, which a carrier answers.
//
//go:embed journey.yaml
var visits string

// pages are the requests that warm the shop up, one after the other.
var pages = []string{
	"/product/3", "/delivery", "/static/shop.css", "/delivery", "/product/17", "/delivery", "/cart/add", "/delivery", "/", "/delivery", "/static/logo.png", "/delivery", "/cart", "/delivery",
	"/product/140", "/delivery",
}

// shopVariant returns the shop in one condition.
func shopVariant(name, about string, args ...string) lab.Variant {
	return lab.Variant{Name: name, About: about, Program: "shop", Args: slices.Concat(shopArgs, args), Needs: tools, Journey: visits, Paths: pages, Rate: shopUsers, SLO: shopSLO, Resident: 300}
}

func withExpected(v lab.Variant, e lab.Expected) lab.Variant {
	v.Expected = e
	return v
}

func atRate(rate float64, v lab.Variant) lab.Variant {
	v.Rate = rate
	return v
}

// briefly is twice the latency of the longest page: a wait of 100 ms for Redis is slow.
const briefly = 80 * time.Millisecond

func withSLO(slo time.Duration, v lab.Variant) lab.Variant {
	v.SLO = slo
	return v
}

// withSlowDisk limits the writes of a variant's processes, so that they wait longer for the disk.
func withSlowDisk(v lab.Variant) lab.Variant {
	v.Writes = 60
	return v
}

var healthy = lab.Expected{NoneOf: lab.Anything(host...), Not: []string{}}

// shops run before memory is fragmented.
var shops = []lab.Variant{
	withExpected(shopVariant("shop", "a shop of nginx, PHP-FPM and Redis, with workers enough"), healthy),
	withExpected(atRate(busyUsers, shopVariant("shop-workers", "the shop with a third more users, and 2 PHP workers where 2.8 are needed", "-workers=2")), lab.Expected{First: pool, Not: []string{stall, softirq, sync, reclaim}}),
	withExpected(atRate(4, withSlowDisk(withSLO(briefly, shopVariant("shop-fsync", "Redis has each write on the disk before it answers (appendfsync always), and the disk takes 60 writes a second", "-fsync")))), lab.Expected{First: fsync, Behind: dependency, Not: []string{stall, softirq, reclaim, pool}}),
	withExpected(withSLO(briefly, shopVariant("shop-keys", "the shop, with a report that lists visitors by KEYS each second, of a million", "-job=keys", "-keys=1000000")), lab.Expected{First: slow, Behind: dependency, Not: []string{stall, softirq, reclaim, pool}}),
	withExpected(savingVariant("shop-save", "Redis forks and saves a GiB again and again"), lab.Expected{First: fork, Behind: dependency, Not: []string{stall, softirq, reclaim, pool}}),
	withExpected(atRate(2*shopUsers, shopVariant("shop-peak", "the shop with workers enough, at twice the load")), healthy),
}

// album is a page whose workers take 4 MiB for each of four small files and use a few bytes of it: the same sparse
// use of memory as the arena's.
var album = []string{"/album"}

// albumVariant returns the shop's albums alone. It runs after the others, on fragmented memory.
func albumVariant(name, about string, host []string) lab.Variant {
	v := shopVariant(name, about)
	v.Journey, v.Paths, v.Rate, v.SLO = "", album, albumRate, albumSLO
	v.Host, v.Beside = host, pieces
	return v
}

// albumRate uses much of a CPU where each page compacts memory four times, and hardly any otherwise. albumSLO is
// three times the latency of a page otherwise.
const (
	albumRate = 20
	albumSLO  = 10 * time.Millisecond
)

// measureSparse measures albums on fragmented memory with direct compaction, against
// the same without huge pages. PHP's workers do the compaction, and their kernel stacks are not
// recorded yet: the arena's are diagnosed instead.
func measureSparse(s *lab.Stand) ([]lab.Check, error) {
	huge, none := albumVariant("shop-thp", "albums, on memory in pieces", always), albumVariant("shop-thp-never", "the same without huge pages", never)
	var all [][2]figures
	for pair := -1; pair < pairs; pair++ {
		var got [2]figures
		begin := rand.IntN(2)
		for _, k := range []int{begin, 1 - begin} {
			v := []lab.Variant{huge, none}[k]
			err := s.With(v, func(one *lab.Service) (err error) {
				got[k], err = measureRun(s, one, lab.Demand{Rate: v.Rate, For: turnLength(s), Seed: uint64(pair + 2), SLO: v.SLO})
				return err
			})
			if err != nil {
				return nil, err
			}
		}
		if pair >= 0 {
			all = append(all, got)
		}
	}
	return []lab.Check{
		toldCheck("shop: median of an album on memory in pieces, with huge pages", "ms", all, func(x [2]figures) float64 { return x[0].p50 }),
		toldCheck("shop: the same without", "ms", all, func(x [2]figures) float64 { return x[1].p50 }),
		changeCheck("shop: CPU time per second for albums on memory in pieces, with huge pages against without", all, func(x figures) float64 { return x.cpu }),
	}, nil
}

// turnLength returns how long each of two variants is measured at a time.
func turnLength(s *lab.Stand) time.Duration {
	if s.Quick() {
		return 1500 * time.Millisecond
	}
	return 8 * time.Second
}

// measureExtras measures what the blocks do not measure: albums on fragmented memory, PHP that asks Redis
// over TCP and over a UNIX socket, and Redis that saves with huge pages and without. After that
// the host's settings must be as they were.
func measureExtras(s *lab.Stand) (all []lab.Check, err error) {
	for _, measure := range []func(*lab.Stand) ([]lab.Check, error){measureSparse, measureSockets, measureSaves, asItWas} {
		some, err := measure(s)
		if all = append(all, some...); err != nil {
			return all, err
		}
	}
	return all, nil
}

// pairs is how often two variants are measured, in turns of random order: six pairs can decide a sign test.
const pairs = 6

// measureSockets measures what Redis over a UNIX socket changes against TCP. The report found
// "slightly steadier"; the result here is told and fails nothing.
func measureSockets(s *lab.Stand) ([]lab.Check, error) {
	unix, tcp := shopVariant("shop-unix", "PHP asks Redis over a UNIX socket"), shopVariant("shop-tcp", "PHP asks Redis over TCP", "-tcp")
	unix.Journey, tcp.Journey, unix.Paths = "", "", []string{"/product/3", "/product/17", "/", "/product/140", "/cart"} // pages that ask Redis and no other dependency
	tcp.Paths, unix.Rate = unix.Paths, shopRate
	got, err := measureTurns(s, unix, tcp)
	if err != nil {
		return nil, err
	}
	return []lab.Check{
		changeCheck("shop: CPU time per second, Redis over a UNIX socket against TCP", got, func(x figures) float64 { return x.cpu }),
		changeCheck("shop: median of a request, Redis over a UNIX socket against TCP", got, func(x figures) float64 { return x.p50 }),
	}, nil
}

// large is how much Redis holds where forks must take long, MiB.
const large = 1024

// savingVariant returns the shop while Redis saves what it holds again and again, and large values
// change.
func savingVariant(name, about string, args ...string) lab.Variant {
	v := shopVariant(name, about, append([]string{fmt.Sprintf("-large=%d", large)}, args...)...)
	v.Journey, v.Rate, v.SLO, v.Resident = "", savingRate, savingSLO, 3*large
	v.Paths = []string{"/backup", "/import", "/", "/product/3", "/import", "/cart/add", "/product/17", "/import", "/cart", "/product/140", "/import", "/product/9"}
	return v
}

// savingSLO is a few times the latency of such a page, and less than such a fork takes without huge pages.
const (
	savingRate = 120
	savingSLO  = 15 * time.Millisecond
)

// measureSaves measures what huge pages change while Redis forks to save and large values are
// written: before Linux 5.8 each first write after a fork copied 2 MiB of a huge page,
// since then 4 KiB of it. Redis switches huge pages off for itself unless disable-thp (6.2 on) forbids
// it, so the host's setting has no effect on it.
func measureSaves(s *lab.Stand) ([]lab.Check, error) {
	huge, small := savingVariant("shop-save-thp", "Redis forks and saves, with huge pages", "-thp"), savingVariant("shop-save-4k", "Redis forks and saves, without huge pages")
	huge.Host = always // the other shop has no huge pages in any setting
	got, err := measureTurns(s, huge, small)
	if err != nil {
		return nil, err
	}
	return []lab.Check{
		toldCheck("shop: a fork of Redis with huge pages", "ms", got, func(x [2]figures) float64 { return x[0].fork }),
		toldCheck("shop: a fork of Redis without", "ms", got, func(x [2]figures) float64 { return x[1].fork }),
		toldCheck("shop: copied by writes after a fork with huge pages", "MiB", got, func(x [2]figures) float64 { return x[0].copied }),
		toldCheck("shop: copied by writes after a fork without", "MiB", got, func(x [2]figures) float64 { return x[1].copied }),
		toldCheck("shop: Redis's memory in huge pages, with them", "1", got, func(x [2]figures) float64 { return x[0].huge }),
		changeCheck("shop: p99 of a request while Redis saves, with huge pages against without", got, func(x figures) float64 { return x.p99 }),
		changeCheck("shop: CPU time per second while Redis saves, with huge pages against without", got, func(x figures) float64 { return x.cpu }),
	}, nil
}

// measureTurns measures two shops in turn, in random order, as often as pairs says: the first time
// only warms up. Both run all the time, with the host settings that the first needs.
func measureTurns(s *lab.Stand, one, other lab.Variant) (all [][2]figures, err error) {
	err = s.With(one, func(first *lab.Service) error {
		return s.With(other, func(second *lab.Service) error {
			both := []*lab.Service{first, second}
			for pair := -1; pair < pairs; pair++ {
				var got [2]figures
				begin := rand.IntN(2)
				for _, k := range []int{begin, 1 - begin} {
					x, err := measureRun(s, both[k], lab.Demand{Rate: one.Rate, For: turnLength(s), Seed: uint64(pair + 2), SLO: one.SLO})
					if err != nil {
						return err
					}
					got[k] = x
				}
				if pair >= 0 {
					all = append(all, got)
				}
			}
			return nil
		})
	})
	return all, err
}

// figures are the measurements of a run.
type figures struct {
	cpu, p50, p99 float64 // cores; ms
	fork          float64 // ms, of Redis
	copied        float64 // MiB
	huge          float64 // the part of Redis's memory that is in huge pages
}

func measureRun(s *lab.Stand, one *lab.Service, d lab.Demand) (x figures, err error) {
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
	x = figures{cpu: (after.UserSeconds + after.SysSeconds - before.UserSeconds - before.SysSeconds) / seconds, p50: got.P50, p99: got.P99}
	return x, x.readStore(s, one)
}

// readStore asks the shop for the figures of its Redis.
func (x *figures) readStore(s *lab.Stand, one *lab.Service) error {
	at, err := url.Parse(one.URL)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(s.Context(), http.MethodGet, at.Scheme+"://"+at.Host+"/store", nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	var said struct {
		ForkUs   float64 `json:"fork_us"`
		Copied   float64 `json:"copied"`
		Resident float64 `json:"resident"`
		HugeKB   float64 `json:"huge_kb"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&said); err != nil {
		return fmt.Errorf("%s: what Redis says of itself: %w", one.Variant.Name, err)
	}
	x.fork, x.copied, x.huge = said.ForkUs/1e3, said.Copied/(1<<20), said.HugeKB*1024/said.Resident
	return nil
}

// changeCheck returns by how much the first of two exceeds the second, on average, with its
// interval.
func changeCheck(name string, all [][2]figures, of func(figures) float64) lab.Check {
	c := toldCheck(name, "1", all, func(x [2]figures) float64 { return of(x[0])/of(x[1]) - 1 })
	if *c.Low <= 0 && *c.High >= 0 {
		c.Why = fmt.Sprintf("no difference is shown by %d pairs", len(all))
	}
	return c
}

// toldCheck returns a mean with its interval of 95 % (Student's, 5 degrees of freedom); it is reported
// and fails nothing.
func toldCheck(name, unit string, all [][2]figures, of func([2]figures) float64) lab.Check {
	const student = 2.571
	mean, spread := 0., 0.
	for _, x := range all {
		mean += of(x) / float64(len(all))
	}
	for _, x := range all {
		spread += (of(x) - mean) * (of(x) - mean) / float64(len(all)-1)
	}
	half := student * math.Sqrt(spread/float64(len(all)))
	low, high := mean-half, mean+half
	return lab.Check{Name: name, Unit: unit, Asked: "told, whatever it is", Got: &mean, Low: &low, High: &high, OK: true, Told: true}
}
