package lab

import "github.com/unstall/unstall/internal/operate/compare"

// Load is the shape of what the services of a lab are put under: a [Storm] of
// clients who do not wait for answers, or a [Closed] loop of those who do.
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
	// prepareLoad is called once when all were admitted whose settings are known.
	prepareLoad() error
	// diagnosisDemand is what a variant is diagnosed under.
	diagnosisDemand(one *Service) (Demand, error)
	// measureRun makes one run of a block.
	measureRun(one *Service, block int) (Measured, compare.Load, error)
	// loadChecks are what must come out of the load itself.
	loadChecks() []Check
}
