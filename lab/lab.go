// Package lab runs incidents again: a service with a known fault, the fix, and
// healthy twins that look alike, all under a known load with known answers. A folder
// below this one that exposes one [Lab] value is a lab; lab/all lists them.
//
// The package's opinion: a lab's file fixes what the lab demands before it runs.
// The diagnosis never learns that it looks at a lab: it gets a process and an
// address, as from any user. Compared variants run in blocks of random order:
// either they stay resident together, are warm when their memory is on a plateau, and
// run below the capacity of the healthy one; or, where growing into the load is the
// incident, each runs in a process that was idle. A missed figure is reported like
// one that was reached.
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
	On      map[string]Runtime // other runtimes of its services, by the name users give them; nil: none

	// Kernel makes diagnoses record kernel stacks, too, as --kernel does. It takes root.
	Kernel bool

	// Headers of every request, as of curl -H.
	Headers []string
	Path    string   // of the requests, unless the variant has its own
	Paths   []string // of the requests, in turn, in place of Path

	Full, Quick Sizes
	Variants    []Variant

	// Sick and Fixed name the variants that the incident is about.
	Sick, Fixed string

	// Moves, if not nil, measures what the blocks do not measure. It runs after them, so it
	// may change services.
	Moves func(*Stand) ([]Check, error)

	// Checks returns the checks beside those of the diagnoses.
	Checks func(*Outcome) []Check
}

// Sizes are the lengths and counts of a lab's measurements.
type Sizes struct {
	Load     Load
	Blocks   int
	Record   time.Duration // of each diagnosis
	Patience time.Duration // in all, to wait until other programs leave the host idle
}

// Variant is the service in one condition.
type Variant struct {
	Name  string
	About string // one line

	// Of names the variant whose service this one uses at another rate: while that service
	// is resident, no other is started.
	Of string

	Program string   // which of the lab's programs, where there are several
	Flags   []string // of the runtime, after the program's own
	Args    []string // {files} is the prefix of the paths where it may keep files
	Env     []string

	// Dependency are the arguments of its dependency; nil: none. {http} and {resp} in
	// Args are the dependency's addresses; {monitor} in its own arguments is the file of its
	// monitor, which the diagnosis reads, too.
	Dependency []string

	Path  string        // "": the lab's, or its Paths
	Paths []string      // of the requests, in turn, in place of Path
	SLO   time.Duration // of its requests; 0: the load's
	Needs []string      // tools that Args name in braces and that are found or fetched first: "nginx", "php", "redis"

	// Journey is a file of journeys (docs/load.md): a diagnosis sends users through the service instead of requests, and
	// the variant's rates are users/s. ${base} is the service's address, ${rate} its Rate.
	Journey string

	// Of an open loop.
	Rate float64 // requests/s when it is diagnosed; 0: the peak
	Part float64 // of the peak, when it is diagnosed; 0: Rate
	Warm float64 // requests/s when it is warmed up; 0: as diagnosed, under a rising load as fast as some clients ask
	// Overload, if not 0, is the rate of the diagnosis as a multiple of the service's
	// capacity, which is measured first.
	Overload float64

	// Host are settings of the host ("thp=always") while it is diagnosed or measured. They are
	// put back after each time, however the lab ends. It takes root.
	Host []string
	// Beside is a program of the lab's, with its arguments, that runs beside the service while it is diagnosed or
	// measured, to load the host. It keeps running for the next variant with the same.
	Beside []string
	// Memory limits its processes' memory by a cgroup of their own, MiB; 0: no limit. It
	// takes root.
	Memory int
	// Writes limits how many times a second its processes may write to the disk of {files}, by a cgroup of their
	// own; 0: no limit. A write beyond it waits. It takes root.
	Writes int

	Compared bool // measured in every block
	Aside    bool // but not in a quick run
	Long     bool // not in a quick run at all
	Resident int  // MiB that it uses, about

	// Predicted says that this variant is compared with what the diagnosis of the sick variant
	// predicted; {setting} in Env or Flags is then the setting that it advised.
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

// Nothing says whether only causes of the host may be found.
func (e Expected) Nothing() bool { return len(e.NoneOf) > len(all.Causes)/2 }

// Supported returns the causes that a diagnosis found, by rank.
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

// Anything returns every cause but those given: for variants in which nothing may be
// found.
func Anything(but ...string) (ids []string) {
	for _, c := range all.Causes {
		if !slices.Contains(but, c.ID) {
			ids = append(ids, c.ID)
		}
	}
	return ids
}
