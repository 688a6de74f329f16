// Package pace waits for moments more exactly than the runtime's timers, which end up to a millisecond
// late in an otherwise idle program.
package pace
