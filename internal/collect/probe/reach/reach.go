// Package reach finds the way to a socket that another process listens on: at which address it is
// reached from here, through which root directory and in which network namespace.
//
// The package's opinion: what a process listens on is known by its own names. An address of its
// loopback leads elsewhere from here if its network is another one.
package reach

import (
	"net/netip"
	"strconv"
)

// Address is that at which a socket is reached from its own network: loopback for one on all
// addresses.
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

// Loopback says whether a name or address leads to this host, or to that of the namespace, with
// nobody in between.
func Loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLoopback()
}
