//go:build linux && !amd64 && !arm64

package kernel

// registers are not known of this architecture: waits are not recorded.
var registers callRegisters
