// Package goroutine reads from the memory of a Go process what a goroutine does: whether it runs, is ready or waits, and where. It
// stops nothing and needs nothing of the process; it needs the right to read its memory (process_vm_readv(2)).
//
// The runtime keeps in the struct g of a goroutine that does not run where it goes on (runtime/runtime2.go: gobuf), and functions keep frame
// pointers (https://go.dev/s/regabi). What changes while it is read is read again, or not told.
//
// The package's opinion: offsets in the struct g depend on Go's version and are known for amd64 and arm64, from Go 1.17 on. What is read is
// checked against what must hold: the state must be one that exists, and the stack pointer must lie in the stack.
package goroutine

import "github.com/unstall/unstall/internal/collect/probe"

const name = "gostacks"

// Probe records what the goroutines of a Go process of this host wait for, from its memory, where it takes no execution traces.
var Probe = probe.Probe{
	Name:  name,
	About: "how many goroutines a Go process has and where they wait, from its memory",
	Find:  findAccess,
}
