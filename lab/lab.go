// Package lab runs incidents again: a service that is sick on purpose, what was
// done against it, and healthy twins that only look alike, all under a load that
// is known, with the answers that are known. A folder below this one that exposes
// one [Lab] value is a lab; lab/all lists them.
//
// The package's opinion: what a lab asks for is fixed before it runs, in its lab
// file. The diagnosis never learns that it looks at a lab: it gets a process and
// an address, as from any user. What is compared runs in blocks of random order:
// resident at the same time, warmed up until its memory is on a plateau and below
// the capacity of the healthy one, or where growing into the load is the incident,
// each in a process that was idle. And a figure that was missed is told like one
// that was reached.
package lab

import (
	"slices"
	"time"

	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/diagnose/check/all"
)

// Lab is an incident that can be run.
type Lab struct {
	Name   string // its folder
	About  string // one line
	Report string // URL of the field report it is made after, "" if it is not known

	Runtime Runtime            // of its services
	On      map[string]Runtime // what they run on as well, by the name users give it; nil: nothing else

	// Kernel has diagnoses record kernel stacks, too, as --kernel does. It takes root.
	Kernel bool

	// Headers of every request, as of curl -H.
	Headers []string
	Path    string   // of the requests, unless the variant has its own
	Paths   []string // of the requests, in turn, in place of Path

	Full, Quick Sizes
	Variants    []Variant

	// Sick and Fixed name the variants that the incident is about.
	Sick, Fixed string

	// Moves, if not nil, measures what the blocks do not: it may change what
	// services do. It runs after the blocks.
	Moves func(*Stand) ([]Check, error)

	// Checks are what must come out beside the diagnoses.
	Checks func(*Outcome) []Check
}

// Sizes are how much a lab does.
type Sizes struct {
	Load     Load
	Blocks   int
	Record   time.Duration // of each diagnosis
	Patience time.Duration // in all, to wait for moments in which others use little of the host
}

// Variant is the service in one condition.
type Variant struct {
	Name  string
	About string // one line

	// Of names the variant whose service this is, at another rate: nothing of its own
	// is started where that one is resident.
	Of string

	Program string   // which of the lab's programs, where there are several
	Flags   []string // of the runtime, after the program's own
	Args    []string // {files} is where it may keep files: the first part of their paths
	Env     []string

	// Dependency are the arguments of the dependency it gets; nil: none. {http}
	// and {resp} in Args are its addresses, {monitor} in its own is the file for what
	// its monitor says, which the diagnosis is given, too.
	Dependency []string

	Path  string        // empty: the lab's, or its Paths
	Paths []string      // of the requests, in turn, in place of Path
	SLO   time.Duration // of its requests; 0: the load's
	Needs []string      // tools that Args name in braces and that are found or fetched before: "nginx", "php", "redis"

	// Journey is a file of journeys (docs/load.md): users go through the service in place of requests when it is
	// diagnosed, and its rates are users/s. ${base} is where the service is, ${rate} its Rate.
	Journey string

	// Of an open loop.
	Rate float64 // requests/s when it is diagnosed; 0: the peak
	Part float64 // of the peak, when it is diagnosed; 0: Rate
	Warm float64 // requests/s when it is warmed up; 0: as diagnosed, of a rising load as fast as some clients ask
	// Overload, if not 0, is the rate when it is diagnosed as a multiple of what it
	// serves at most, which is measured first.
	Overload float64

	// Host are settings of the host ("thp=always") while it is diagnosed or measured, which
	// are put back after each time, whatever ends the lab. It takes root.
	Host []string
	// Beside is a program of the lab's, with its arguments, that runs while it is diagnosed or
	// measured: the host it is on. It stays for the next variant that has the same.
	Beside []string
	// Memory is how much its processes may have, in a cgroup of their own, MiB; 0: no limit. It
	// takes root.
	Memory int
	// Writes is how often its processes may write to the disk of {files} a second, and wait for it, in a cgroup
	// of their own; 0: no limit. It takes root.
	Writes int

	Compared bool // measured in every block
	Aside    bool // but not in a quick run
	Long     bool // not in a quick run at all
	Resident int  // MiB it fills, about

	// Predicted says that what the diagnosis of the sick variant predicted is held
	// against this one; then {setting} in Env or Flags is the setting it advised.
	Predicted bool

	Expected Expected
}

// Expected is the known answer: which causes must be supported. One of First,
// NoneOf and AnyOf is given.
type Expected struct {
	First  string   `json:"first,omitempty"`   // ranked first
	Behind string   `json:"behind,omitempty"`  // or behind this one, which says who waits for it
	NoneOf []string `json:"none_of,omitempty"` // none of these
	AnyOf  []string `json:"any_of,omitempty"`  // at least one of these
	Not    []string `json:"not"`               // and none of these
}

// Met says whether a diagnosis is as expected.
func (e Expected) Met(d *diagnose.Diagnosis) bool {
	return d != nil && e.MetBy(Supported(d))
}

// MetBy says whether the causes found, by rank, are as expected.
func (e Expected) MetBy(supported []string) bool {
	has := func(id string) bool { return slices.Contains(supported, id) }
	switch {
	case slices.ContainsFunc(e.Not, has), slices.ContainsFunc(e.NoneOf, has):
		return false
	case e.First != "":
		return len(supported) > 0 && (supported[0] == e.First || supported[0] == e.Behind && has(e.First))
	case len(e.AnyOf) > 0:
		return slices.ContainsFunc(e.AnyOf, has)
	}
	return len(e.NoneOf) > 0
}

// Nothing says whether nothing may be found but what others do to the host.
func (e Expected) Nothing() bool { return len(e.NoneOf) > len(all.Causes)/2 }

// Supported are the causes a diagnosis found, by rank.
func Supported(d *diagnose.Diagnosis) (ids []string) {
	if d == nil {
		return nil
	}
	for _, v := range d.Verdicts {
		if v.Verdict == "supported" {
			ids = append(ids, v.Cause)
		}
	}
	return ids
}

// Anything is every cause but those given: for variants in which nothing may be
// found.
func Anything(but ...string) (ids []string) {
	for _, c := range all.Causes {
		if !slices.Contains(but, c.ID) {
			ids = append(ids, c.ID)
		}
	}
	return ids
}
