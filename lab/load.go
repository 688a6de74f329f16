package lab

import "github.com/unstall/unstall/internal/operate/compare"

// Load is the shape of what the services of a lab are put under: a [Storm] of
// clients who do not wait for answers, or a [Closed] loop of those who do.
type Load interface {
	// on returns the load on the services of a stand.
	on(*Stand) loading
}

// loading is a load while a lab runs.
type loading interface {
	// resident says whether a variant's service lives as long as the lab.
	resident(v Variant) bool
	// admit gets a variant ready to be measured.
	admit(v Variant) error
	// ready is called once when all were admitted whose settings are known.
	ready() error
	// demand is what a variant is diagnosed under.
	demand(one *Service) (Demand, error)
	// measure makes one run of a block.
	measure(one *Service, block int) (Measured, compare.Load, error)
	// checks are what must come out of the load itself.
	checks() []Check
}
