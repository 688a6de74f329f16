//go:build linux && !amd64 && !arm64

package exchanges

// registers are not known of this architecture: routes are not recorded.
var registers callRegisters
