// Package reach finds the way to another process's listening socket: its address from here, the root directory, and the network namespace.
//
// The package's opinion: a process's listening socket is known by the process's own names. If the process has another network, an address of
// its loopback leads elsewhere from here.
package reach

import (
	"net/netip"
	"strconv"
)

// Address returns the address of a socket in its own network: loopback for one on all addresses.
func Address(a netip.AddrPort) string {
	addr := a.Addr().Unmap()
	switch {
	case addr.IsUnspecified() && addr.Is6():
		return "localhost:" + strconv.Itoa(int(a.Port())) // either family
	case addr.IsUnspecified():
		addr = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	return netip.AddrPortFrom(addr, a.Port()).String()
}

// Loopback says whether a name or address leads to this host, or to the namespace itself, with no other host in between.
func Loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLoopback()
}
