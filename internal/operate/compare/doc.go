// Package compare says whether a change helped. It compares runs before the change with runs after it, metric
// by metric.
//
// The package's opinion: the unit is the run, not the request. Two runs of the same thing differ by more (the
// host's state, a warm cache, a neighbour) than their requests do. So runs are paired, and the two runs of a
// pair are made close to each other and in random order ([Blocks]). Six pairs decide: a change counts only if
// the sign-flip test over the pairs says that it is not chance, and if it is large enough to matter.
//
// Two runs are what people usually have. They decide only what lies beyond any difference between runs of the
// same service, and leave the rest open. The service's earlier captures and the quarters of these two runs
// show that difference.
//
// Runs under different loads are not compared at all, because half the load always looks like an
// improvement.
//
// Each metric is decided at its own level, so of twenty unchanged metrics one may be reported as changed.
// Choose the metrics that decide beforehand.
package compare
