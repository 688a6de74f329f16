// Package evidence is the vocabulary of unstall: what every format yields and
// every cause reads. It imports only the standard library, and everything else
// points at it.
//
// A [Bundle] holds what is known about one incident on one timeline. Formats
// write into it through a [Builder], one per artifact and format; nobody else
// does. All times are nanoseconds since the Unix epoch once [Bundle.Align] has
// run; until then they are in the clock of the artifact they came from.
//
// The package's opinion: columns rather than objects, because a trace of ten
// seconds holds a million states; unknown is never zero; every row can be traced
// to its [Origin]; and what could not be seen ([Coverage], [Warning]) is evidence
// too, because "ruled out" without coverage only means "did not look".
//
// # The four cases the types were drawn against
//
// Goroutine states per request out of an execution trace: the states of a
// request are contiguous, so they are not rows with two ends each but a [Path]:
// kind and duration, packed, 4 to 8 bytes a state. Waits carry their holder,
// and time spent runnable carries who held the processors ([Shares]).
//
// A starving server most of whose requests never finish: such a request is a
// row like any other whose Outcome is [Unfinished] and whose End is a lower
// bound, so that it still counts as slow time.
//
// An access log with a resolution of 1 s beside pauses of 30 ms: a [Clock] has a
// resolution, an error and says which end of a request its stamp marks; who
// joins by time must ask [Clock.Slack] first.
//
// Two processes and a host on one timeline: every row names its [Subject], and
// every artifact its own clock, aligned once for all.
package evidence
