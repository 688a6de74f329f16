package golang

import "github.com/unstall/unstall/internal/diagnose/check"

// terms are those of Go's collector in the policy for collectors. Its pauses are well below a millisecond: what it costs is CPU,
// so that it is judged by slow time alone, or by what it burns. Slow requests of a Go service take milliseconds.
var terms = check.CollectorTerms{}
