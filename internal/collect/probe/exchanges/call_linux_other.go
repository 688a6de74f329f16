//go:build linux && !amd64 && !arm64

package exchanges

// registers are unknown for this architecture, so routes are not recorded.
var registers callRegisters
