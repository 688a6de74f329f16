//go:build linux && !amd64

package linux

const pollNumber = "none"
