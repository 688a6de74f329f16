//go:build !unix

package journey

import "net"

// isAlive reports whether an idle connection can still be used: the server has neither closed it
// nor sent anything unasked. Browsers check that, too, before they use one. Where the system
// cannot tell, it returns true, and a request that finds its connection closed is sent again.
func isAlive(net.Conn) bool { return true }
