package golang

import "github.com/unstall/unstall/internal/diagnose/check"

// terms are those of Go's collector in the policy for collectors. Its pauses are well below a millisecond and its cost is CPU,
// so it is judged only by slow time or by CPU time. Slow requests of a Go service take milliseconds.
var terms = check.CollectorTerms{}
