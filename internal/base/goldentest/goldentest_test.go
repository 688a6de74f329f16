package goldentest

import "testing"

// TestCommand checks the command for this package.
func TestCommand(t *testing.T) {
	if got, want := Command(), "go test ./internal/base/goldentest -update"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
