// Package capture is the .unstall file: what was recorded of a service, as it
// came, and a manifest that says what each artifact is.
package capture
