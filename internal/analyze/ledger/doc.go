// Package ledger says where each request's time went, so that the milliseconds
// add up.
//
// Every nanosecond of a request has one observed state (package evidence) and gets one mechanism here. Per request the
// sum is exactly its latency; time that was not observed (unobserved) and time that was observed but not understood
// (unexplained) are entries of their own. Its opinion:
//
//   - Waiting is charged to the holder: time spent ready but not running goes to the holder of the processors, time
//     spent waiting for a lock goes to what the lock's owner did.
//   - Where states are missing, pauses are laid over requests as far as the two
//     clocks allow, and the entry is a bound.
//   - On a host that does not run the threads, time on a processor is not CPU time. When the evidence shows that, the
//     part that cannot have run is taken out of all time on processors.
//   - Mechanisms add up. The cost of a cause is counterfactual and does not; the causes compute it.
package ledger
