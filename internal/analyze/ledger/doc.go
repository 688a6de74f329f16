// Package ledger says where each request's time went, so that the milliseconds
// add up.
//
// Every nanosecond of a request has one observed state (package evidence) and
// gets one mechanism here; per request the sum is its latency exactly, with
// what nobody saw (unobserved) and what was seen but not understood
// (unexplained) as entries of their own. Its opinion:
//
//   - Waiting is charged to the holder: time spent ready but not running goes to
//     whoever held the processors, time spent waiting for a lock to what its
//     owner did.
//   - Where states are missing, pauses are laid over requests as far as the two
//     clocks allow, and the entry is a bound.
//   - A processor's time is not CPU time on a host that does not run the threads.
//     When the evidence shows that, the part that cannot have been run is taken
//     out of everything that happened on processors.
//   - Mechanisms add up. What a cause costs is counterfactual and does not; that
//     is the causes' business.
package ledger
