//go:build unix

package journey

import (
	"crypto/tls"
	"net"
	"syscall"
)

// isAlive reports whether an idle connection can still be used: the server has neither closed it
// nor sent anything unasked. Browsers check that, too, before they use one. Where the system
// cannot tell, it returns true, and a request that finds its connection closed is sent again.
func isAlive(c net.Conn) bool {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	s, ok := c.(syscall.Conn)
	if !ok {
		return true
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return false
	}
	good := false
	_ = raw.Read(func(fd uintptr) bool {
		var b [1]byte
		_, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		good = err == syscall.EAGAIN
		return true
	})
	return good
}
