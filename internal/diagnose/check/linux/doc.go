// Package linux holds the causes that lie in the kernel and in what else runs
// on the host.
package linux
