//go:build unix

package journey

import (
	"crypto/tls"
	"net"
	"syscall"
)

// alive says whether an idle connection can be used: the server has neither closed it nor sent what
// nobody asked for. Browsers look, too, before they use one.
func alive(c net.Conn) bool {
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
