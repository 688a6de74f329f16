// Package names has the names of the series about lost request time. unstall watch writes these series to a store of
// metrics, and unstall fleet queries them. Series of runtimes and hosts have the names of their own conventions, which
// the watch knows.
//
// All names follow Prometheus' conventions (https://prometheus.io/docs/practices/naming). Names are added, never
// renamed.
package names

// Counters of a service on a host, with the labels Host, Service and Version.
const (
	// SlowSeconds is slow request time (s) by Mechanism, an id of internal/analyze/ledger. Over all mechanisms it adds up
	// to the time of all slow requests.
	SlowSeconds = "unstall_slow_seconds_total"
	// CauseSeconds is the slow request time (s) that would not exist without a Cause: what a supported verdict
	// saves. Causes overlap, so it does not add up.
	CauseSeconds = "unstall_cause_slow_seconds_total"
	// Requests counts finished requests, SlowRequests the slow ones among them.
	Requests     = "unstall_requests_total"
	SlowRequests = "unstall_slow_requests_total"
)

// Gauges.
const (
	// Verdict is 1 while a Cause of a service is supported and 0 while it is ruled out. It is absent while the
	// cause is inconclusive.
	Verdict = "unstall_verdict"
	// Time is the host's own clock (s since the epoch). Start is the time its watch began, which distinguishes
	// two hosts of one name from one host.
	Time  = "unstall_time_seconds"
	Start = "unstall_start_time_seconds"
)

// Labels.
const (
	Host      = "host"
	Service   = "service"   // its name in telemetry, else the name of its executable
	Version   = "version"   // of the service, "" unknown
	Mechanism = "mechanism" // an id of internal/analyze/ledger
	Cause     = "cause"     // an id of internal/diagnose/check
)

// All are the series.
var All = []string{SlowSeconds, CauseSeconds, Requests, SlowRequests, Verdict, Time, Start}
