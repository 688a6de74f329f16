// Package evidence is the vocabulary of unstall: what every format yields and every cause reads. It imports only the standard
// library, and all other packages depend on it.
//
// A [Bundle] holds what is known about one incident on one timeline. Only formats write into it, each through a [Builder] for one
// artifact and format. All times are nanoseconds since the Unix epoch once [Bundle.Align] has run; until then they are in the clock
// of their artifact.
//
// The package's opinion: columns rather than objects, because a trace of ten seconds holds a million states; unknown is never zero;
// every row has its [Origin]; and what could not be seen ([Coverage], [Warning]) is evidence too, because "ruled out" without
// coverage only means "did not look".
//
// # The four cases that the types were designed for
//
// Goroutine states per request from an execution trace: the states of a request are contiguous, so they are not rows with two ends
// each but a [Path]: kind and duration, packed, 4 to 8 bytes a state. Waits carry their holder, and runnable time carries who held
// the processors ([Shares]).
//
// A starving server that never finishes most of its requests: such a request is a row like any other, with the Outcome [Unfinished]
// and with a lower bound as End, so that it still counts as slow time.
//
// An access log with a resolution of 1 s beside pauses of 30 ms: a [Clock] has a resolution, an error and the end of a request that
// its stamp marks; code that joins by time must check [Clock.Slack] first.
//
// Two processes and a host on one timeline: every row names its [Subject], and every artifact its own clock, aligned once for all.
package evidence
