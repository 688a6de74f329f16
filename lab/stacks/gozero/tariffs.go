package main

import (
	"os"

	"github.com/zeromicro/go-zero/core/syncx"
)

// tariffs asks the town for the tariff of a district, once for all who ask at the same time.
type tariffs struct {
	same interface {
		Do(key string, fn func() (any, error)) (any, error)
	}
}

// newTariffs shares calls; with the fault calls for a district are made one after the other.
func newTariffs() *tariffs {
	if fault("locked-calls") {
		return &tariffs{same: syncx.NewLockedCalls()}
	}
	return &tariffs{same: syncx.NewSingleFlight()}
}

func (t *tariffs) of(district string) (any, error) {
	return t.same.Do(district, func() (any, error) {
		return ask(os.Getenv("ADDR_TOWN"), "/tariffs/"+district)
	})
}
