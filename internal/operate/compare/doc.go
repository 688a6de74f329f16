// Package compare says whether a change helped: runs before it against runs
// after it, metric by metric.
//
// The package's opinion: the unit is the run, not the request, for what differs
// between two runs of the same thing (a host's mood, a warm cache, a neighbour) is
// larger than what differs between their requests. So runs are paired, a pair's
// two runs are made close to each other and in random order ([Blocks]), and six pairs
// decide: a change counts only if the sign-flip test over the pairs says that it is not
// chance and if it is large enough to matter. Two runs are what people have: they decide
// what is beyond any difference between runs of the same service, as its earlier
// captures and the quarters of these two runs show it, and leave the rest open. And runs
// under different loads are not compared at all: half the load always looks like an
// improvement.
//
// Each metric is decided at its own level: of twenty that nothing happened to, one
// may be told as changed. Choose the ones that decide beforehand.
package compare
