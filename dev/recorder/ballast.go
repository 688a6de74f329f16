package main

import (
	"time"

	"github.com/unstall/unstall/lab/loadgen"
)

// ballastRecordings returns the recordings of the go-ballast incident that the demo reads.
func ballastRecordings() []recording {
	r := recording{
		program: "go-ballast/gateway", args: []string{"-live=40"},
		load: loadgen.Plan{Rate: 1000, Poisson: true, Connections: 128, Paths: gatewayRoutes, Tokens: 5000},
		warm: 3 * time.Second, cpu: 5 * time.Second, trace: 3500 * ms, tail: 2500 * ms,
		gctrace: true, accessLog: true,
	}
	return []recording{
		r.withChange(func(r *recording) {
			r.id, r.about = "go-ballast/sick", "1,000 requests/s, default pacing: the collector runs all the time"
			r.dir = "lab/go-ballast/recorded/sick"
			r.expect = []bound{{"GC/s", 8, 0}, {"collector %", 30, 0}, {"achieved %", 98, 0}}
		}),
		r.withChange(func(r *recording) {
			r.id, r.about = "go-ballast/fixed", "the same load with GOGC=off GOMEMLIMIT=2GiB, after the memory plateau"
			r.dir = "lab/go-ballast/recorded/fixed"
			r.args = append(r.args, "-pretouch=1900")
			r.env = []string{"GOGC=off", "GOMEMLIMIT=2GiB"}
			r.expect = []bound{{"GC/s", 0, .6}, {"collector %", 0, 15}, {"achieved %", 98, 0}, {"faults/s", 0, 2000}}
		}),
	}
}
