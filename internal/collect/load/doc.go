// Package load makes requests at a rate that does not depend on the answers, or as fast as they come, and measures the service's responses.
//
// Its opinion: users do not coordinate. A request's latency counts from its intended time. While all connections are busy, the request waits in
// the schedule and the clock runs. A request without an answer counts with the time it has waited. The generator's own delay is measured
// separately, and a run whose generator was the bottleneck says so. Closed loops show what a service can do, not how long its users wait.
//
// HTTP/1.1 (RFC 9112) and HTTP/2 (RFC 9113) over TCP, TLS and UNIX sockets are implemented here, because a load generator often shares the machine
// with the service, and its CPU use distorts the measurement.
package load
