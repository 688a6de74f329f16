// Package goballast is the lab of a Go service with a small heap and much
// garbage: what an API gateway showed in 2019, the fix, and its effect.
// README.md tells the story; this file has all that the lab demands.
package goballast

import (
	"embed"
	"fmt"
	"math"
	"time"

	"github.com/unstall/unstall/lab"
)

//go:embed gateway/*.go
var sources embed.FS

// host are causes of the host that a lab happens to run on.
var host = []string{"linux.noisy-neighbour", "linux.cpu-saturation"}

// sessions is the size of the gateway's sessions in MiB, at the storm's own rate: with the
// requests in progress during a cycle they make 50 to 70 MiB of live heap.
const sessions = 46

// peak is the rate of the storm in requests/s: two thirds of what two processors can serve when
// the collector is idle.
const peak = 1230

// gateway are its flags: its sessions, and a millisecond of work for each request beside half a megabyte
// of garbage, so that the storm is two thirds of what two processors can serve when the
// collector is idle.
var gateway = []string{fmt.Sprint("-live=", sessions), "-signature=245000"}

// sessionsFor returns the sessions (MiB) that go with the storm. On faster processors the storm is
// larger and allocates more. With sessions in proportion, GC still runs nine times a second and
// uses the same part of the CPU.
func sessionsFor(s *lab.Stand) int { return int(math.Round(sessions * *s.Plan().Peak / peak)) }

// The limit and the ballast, MiB, at the storm's own rate.
const (
	limit   = 6 << 10
	ballast = 1 << 10
)

// room is what a variant gets in proportion to the storm, too: cycles per second are
// the allocation rate ÷ the headroom, so with a larger storm and the same headroom
// they would fall by less.
var room = map[string]struct {
	command string
	mib     int
}{"memory-limit": {"limit", limit}, "ballast": {"ballast", ballast}}

// followStorm gives a gateway sessions and room for garbage in proportion to the storm.
func followStorm(s *lab.Stand, one *lab.Service) error {
	told := fmt.Sprintf("%d MiB of sessions instead of %d", sessionsFor(s), sessions)
	if r, ok := room[one.Variant.Name]; ok {
		mib := int(math.Round(float64(r.mib) * *s.Plan().Peak / peak))
		if spare, known := s.Spare(); known && spare < mib-r.mib {
			return fmt.Errorf("the storm of %.0f requests/s needs a %s of %d MiB instead of %d, and only %d MiB are available: close other programs, or run it on a larger host",
				*s.Plan().Peak, r.command, mib, r.mib, spare)
		}
		if _, err := one.Command(r.command, fmt.Sprint(mib)); err != nil {
			return err
		}
		told += fmt.Sprintf(", and a %s of %d MiB instead of %d,", r.command, mib, r.mib)
	}
	s.Say("%s: %s go with the storm", one.Variant.Name, told)
	_, err := one.Command("live", fmt.Sprint(sessionsFor(s)))
	return err
}

func gatewayArgs(args ...string) []string { return append(append([]string{}, gateway...), args...) }

// Lab is the incident.
var Lab = lab.Lab{
	Name:    "go-ballast",
	About:   "an API gateway in Go runs GC nine times per second while memory is free",
	Report:  "https://blog.twitch.tv/en/2019/04/10/go-memory-ballast-how-i-learnt-to-stop-worrying-and-love-the-heap/",
	Runtime: lab.Go{Sources: sources},
	Headers: []string{"Authorization: Bearer t0000042"},
	Path:    "/v1/feed",
	Full: lab.Sizes{Blocks: 8, Record: 12 * time.Second, Patience: 5 * time.Minute,
		Load: lab.Storm{Peak: peak, Spike: 20, Base: 2 * time.Second, For: 10 * time.Second, Follow: followStorm,
			SLO: 100 * time.Millisecond, Warm: 40 * time.Second, Hold: 5 * time.Second}},
	Quick: lab.Sizes{Blocks: 7, Record: 5 * time.Second, Patience: 20 * time.Second,
		Load: lab.Storm{Peak: peak, Spike: 20, Base: 500 * time.Millisecond, For: 2500 * time.Millisecond, Follow: followStorm,
			SLO: 100 * time.Millisecond, Warm: 15 * time.Second, Hold: 2500 * time.Millisecond}},
	Sick:  "sick",
	Fixed: "memory-limit",
	Variants: []lab.Variant{
		{
			Name: "sick", About: "default pacing", Program: "gateway", Args: gateway, Compared: true, Resident: 200,
			Expected: lab.Expected{First: "go.gc-rate", Not: []string{"go.memory-limit-thrash", "go.lock-contention", "service.dependency-slow",
				"service.pool-exhausted", "service.over-capacity", "linux.page-faults"}},
		},
		{
			Name: "memory-limit", About: "GOGC=off and a limit of 6 GiB", Program: "gateway", Args: gatewayArgs("-pretouch=5400"), Compared: true, Resident: 6200, Warm: 1500,
			Env:      []string{"GOGC=off", fmt.Sprintf("GOMEMLIMIT=%dMiB", limit)},
			Expected: lab.Expected{NoneOf: lab.Anything(host...), Not: []string{}},
		},
		{
			Name: "ballast", About: "a ballast of 1 GiB", Program: "gateway", Args: gatewayArgs(fmt.Sprint("-ballast=", ballast), "-pretouch=1050"), Compared: true, Resident: 1250,
			Expected: lab.Expected{NoneOf: []string{"go.gc-rate"}, Not: []string{"go.memory-limit-thrash", "linux.page-faults"}},
		},
		{
			Name: "gogc", About: "GOGC=1000: a ratio", Program: "gateway", Args: gatewayArgs("-pretouch=1200"), Compared: true, Aside: true, Resident: 1900,
			Env:      []string{"GOGC=1000"},
			Expected: lab.Expected{NoneOf: []string{"go.gc-rate"}, Not: []string{"go.memory-limit-thrash", "linux.page-faults"}},
		},
		{
			Name: "advised", About: "as the diagnosis of sick advises", Program: "gateway", Args: gatewayArgs("-pretouch=900"), Resident: 1250, Predicted: true,
			Env:      []string{"{setting}"},
			Expected: lab.Expected{NoneOf: []string{"go.gc-rate"}, Not: []string{"go.memory-limit-thrash", "linux.page-faults"}},
		},
		{
			Name: "little-allocation", About: "the same work without the garbage", Program: "gateway", Args: gatewayArgs("-garbage=0"), Resident: 200,
			Expected: lab.Expected{NoneOf: lab.Anything(host...), Not: []string{}},
		},
		{
			Name: "over-capacity", About: "on one CPU, 15 % more requests than it can serve", Program: "gateway", Args: gatewayArgs("-garbage=0"), Resident: 300,
			Env: []string{"GOMAXPROCS=1"}, Warm: 300, Overload: 1.15,
			Expected: lab.Expected{First: "service.over-capacity", Not: []string{"go.gc-rate", "service.dependency-slow", "service.pool-exhausted"}},
		},
		{
			Name: "slow-dependency", About: "an upstream that takes 60 ms for 300 ms of each second", Program: "gateway", Args: gatewayArgs("-upstream={http}"), Resident: 250,
			Dependency: []string{"-delay=2ms", "-slow=60ms", "-every=1s", "-for=300ms"}, Rate: 150,
			Expected: lab.Expected{First: "service.dependency-slow", Not: []string{"go.gc-rate", "service.over-capacity", "service.pool-exhausted"}},
		},
		{
			Name: "exhausted-pool", About: "four connections to a session store that takes 20 ms", Program: "gateway", Args: gatewayArgs("-session-store={resp}", "-store-connections=4"), Resident: 250,
			Dependency: []string{"-delay=20ms"}, Rate: 180,
			Expected: lab.Expected{First: "service.pool-exhausted", Not: []string{"go.gc-rate", "service.over-capacity", "service.dependency-slow"}},
		},
	},
	Checks: outcomeChecks,
	Moves:  tripleLiveHeap,
}
