package attach

import (
	"context"
	"fmt"
	"net"
	"os"
	"runtime"
	"syscall"
)

// dial connects to the listener. A JVM reads the credentials of its clients and refuses root before JDK 11, or in another user
// namespace. So root connects as the JVM's user.
func (v *VM) dial(ctx context.Context) (net.Conn, error) {
	const oPath = 0x200000 // O_PATH
	dir, err := os.OpenFile(v.root+"/tmp", oPath|syscall.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	// Connect through the descriptor, whichever user the thread has, and however long the path is.
	name := fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), v.socketName())
	var conn *net.UnixConn
	if os.Geteuid() == v.uid && os.Getegid() == v.gid {
		ctx, cancel := context.WithTimeout(ctx, Patience)
		defer cancel()
		var d net.Dialer
		c, err := d.DialContext(ctx, "unix", name)
		if err != nil {
			return nil, err
		}
		conn = c.(*net.UnixConn)
	} else if conn, err = v.dialAs(name); err != nil {
		return nil, err
	}
	if err := v.verifyPeer(conn); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

// dialAs connects from a thread that takes the JVM's user and group, and ends afterwards.
func (v *VM) dialAs(name string) (*net.UnixConn, error) {
	type dialed struct {
		fd  int
		err error
	}
	done := make(chan dialed)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		fd, err := v.connectAs(name)
		done <- dialed{fd, err}
	}()
	d := <-done
	if d.err != nil {
		return nil, d.err
	}
	f := os.NewFile(uintptr(d.fd), name)
	defer f.Close()
	c, err := net.FileConn(f)
	if err != nil {
		return nil, err
	}
	return c.(*net.UnixConn), nil
}

func (v *VM) connectAs(name string) (int, error) {
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	patience := syscall.NsecToTimeval(Patience.Nanoseconds())
	err = syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_SNDTIMEO, &patience) // also bounds connect
	const leave = ^uintptr(0)
	if err == nil {
		// This affects only this thread, unlike syscall.Setresuid, because credentials belong to a kernel thread.
		if _, _, e := syscall.RawSyscall(syscall.SYS_SETRESGID, leave, uintptr(v.gid), leave); e != 0 {
			err = e
		} else if _, _, e := syscall.RawSyscall(syscall.SYS_SETRESUID, leave, uintptr(v.uid), leave); e != 0 {
			err = e
		}
	}
	if err == nil {
		err = syscall.Connect(fd, &syscall.SockaddrUnix{Name: name})
	}
	if err != nil {
		_ = syscall.Close(fd)
		return 0, err
	}
	return fd, nil
}

// verifyPeer returns an error unless the process itself listens on the socket: SO_PEERCRED of unix(7) is the process that called
// listen. A PID of 0 is accepted; it means a process without a PID in this namespace.
func (v *VM) verifyPeer(conn *net.UnixConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var peer *syscall.Ucred
	var e error
	if err := raw.Control(func(fd uintptr) {
		peer, e = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	}); err != nil {
		return err
	}
	if e == nil && peer.Pid != 0 && int(peer.Pid) != v.pid {
		return newProblem(v.pid, fmt.Sprintf("process %d listens on %s instead", peer.Pid, v.Socket()), "remove that file, and try again", ErrSilent)
	}
	return nil
}
