// Package names has the names of the series that say what requests of a service lost, as
// unstall watch gives them to a store of metrics and unstall fleet asks it for them. What is
// counted of runtimes and hosts has the names of their own conventions, which the watch knows.
//
// All are named as Prometheus' conventions have it
// (https://prometheus.io/docs/practices/naming), and are added to, never renamed.
package names

// Counters of a service on a host, with the labels Host, Service and Version.
const (
	// SlowSeconds is slow request time (s) by Mechanism, an id of package ledger. Those of all
	// mechanisms add up to the time of all slow requests.
	SlowSeconds = "unstall_slow_seconds_total"
	// CauseSeconds is the slow request time (s) that would not have been there without a Cause:
	// what a supported verdict saves. Causes overlap: it does not add up.
	CauseSeconds = "unstall_cause_slow_seconds_total"
	// Requests are those that ended, SlowRequests those of them that were slow.
	Requests     = "unstall_requests_total"
	SlowRequests = "unstall_slow_requests_total"
)

// Gauges.
const (
	// Verdict is 1 while a Cause of a service is supported, 0 while it is ruled out; there is none
	// while it is inconclusive.
	Verdict = "unstall_verdict"
	// Time is the host's own clock (s since the epoch), and Start when the watch of it began: two
	// hosts of one name are told from one by the latter.
	Time  = "unstall_time_seconds"
	Start = "unstall_start_time_seconds"
)

// Labels.
const (
	Host      = "host"
	Service   = "service"   // what its telemetry calls it, else the name of its executable
	Version   = "version"   // of the service, "" unknown
	Mechanism = "mechanism" // an id of package ledger
	Cause     = "cause"     // an id of package cause
)

// All are the series.
var All = []string{SlowSeconds, CauseSeconds, Requests, SlowRequests, Verdict, Time, Start}
