package main

import (
	"fmt"

	"github.com/unstall/unstall/lab/stacks/grpcgateway/fares"
)

const routes = 50_000

// table has the cents of each route.
type table []int64

func newTable() table {
	all := make(table, routes)
	for id := range all {
		all[id] = int64(900 + id*37%20_000)
	}
	return all
}

func (t table) fare(id int32) *fares.Fare {
	route := int(id) % len(t)
	return &fares.Fare{Id: id, Route: fmt.Sprintf("route %d", route), Cents: t[route]}
}
