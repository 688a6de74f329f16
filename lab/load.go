package lab

import "github.com/unstall/unstall/internal/operate/compare"

// Load is the shape of the load on the services of a lab: a [Storm] of clients that do not
// wait for answers, or a [Closed] loop of clients that do.
type Load interface {
	// newLoading returns the load on the services of a stand.
	newLoading(*Stand) loading
}

// loading is a load while a lab runs.
type loading interface {
	// isResident says whether a variant's service lives as long as the lab.
	isResident(v Variant) bool
	// admitVariant gets a variant ready to be measured.
	admitVariant(v Variant) error
	// prepareLoad is called once, after all variants with known settings were admitted.
	prepareLoad() error
	// diagnosisDemand returns the demand that a variant is diagnosed under.
	diagnosisDemand(one *Service) (Demand, error)
	// measureRun makes one run of a block.
	measureRun(one *Service, block int) (Measured, compare.Load, error)
	// loadChecks returns the checks of the load itself.
	loadChecks() []Check
}
