// Package load makes requests at a rate that does not wait for the answers, or
// as fast as they come, and says what the service made of them.
//
// Its opinion: users do not coordinate. A request's latency counts from the
// moment it was meant to be sent; while connections are busy it waits in the
// schedule and the clock runs. What was not answered counts with the time it
// waited so far, the generator's own delay is measured and told apart, and a
// run whose generator was the bottleneck says so. Closed loops are for finding
// out what a service can do, not how long its users wait.
//
// HTTP/1.1 (RFC 9112) and HTTP/2 (RFC 9113) over TCP, TLS and UNIX sockets are written and read by hand:
// a load generator shares the machine with what it measures more often than not,
// and what it takes from it distorts the measurement.
package load
