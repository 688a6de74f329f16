package reach

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Enterable returns an error, with what to do, if the network namespace of a process cannot be entered.
func Enterable(pid int) error {
	return Inside(procDir(pid), func() error { return nil })
}

func procDir(pid int) string { return fmt.Sprintf("/proc/%d", pid) }

// Inside runs a function on a thread in the network namespace of a process, given by its directory in /proc. A thread that cannot return is not
// used again: it ends with its goroutine. The process's first thread would stay, so the function first tries to return.
func Inside(dir string, do func() error) error {
	done := make(chan error)
	go func() { done <- enterNamespace(dir, do) }()
	return <-done
}

func enterNamespace(dir string, do func() error) error {
	ours, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		return err
	}
	defer ours.Close()
	theirs, err := os.Open(dir + "/ns/net")
	if err != nil {
		return err
	}
	defer theirs.Close()
	runtime.LockOSThread()
	if err := unix.Setns(int(theirs.Fd()), unix.CLONE_NEWNET); err != nil {
		runtime.UnlockOSThread()
		return err
	}
	err = do()
	if unix.Setns(int(ours.Fd()), unix.CLONE_NEWNET) == nil {
		runtime.UnlockOSThread()
	}
	return err
}

// DialIn connects from within the network namespace of a process. A socket stays in the namespace it was made in, whichever thread uses it.
func DialIn(pid int) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (conn net.Conn, err error) {
		// Of one address without a name the socket is made by the thread that dials.
		dialer := net.Dialer{Timeout: 5 * time.Second, FallbackDelay: -1}
		err = Inside(procDir(pid), func() (err error) {
			for _, a := range expandLocalhost(address) {
				if conn, err = dialer.DialContext(ctx, network, a); err == nil {
					break
				}
			}
			return err
		})
		return conn, err
	}
}

// expandLocalhost returns the addresses that the name localhost stands for, or the address itself
// if it is another.
func expandLocalhost(address string) []string {
	port, ok := strings.CutPrefix(address, "localhost:")
	if !ok {
		return []string{address}
	}
	return []string{"127.0.0.1:" + port, "[::1]:" + port}
}

// WhyNot is the reason why a namespace cannot be entered. instead says what to do if no right allows it.
func WhyNot(pid int, err error, instead string) (why, do string) {
	why = "the process has its own network namespace, and this user may not enter it"
	do = fmt.Sprintf("sudo unstall %d", pid)
	if !errors.Is(err, os.ErrPermission) {
		return fmt.Sprintf("the process has its own network namespace, which cannot be entered: %v", err), instead
	}
	if os.Geteuid() == 0 {
		why = "the process has its own network namespace, and entering it needs the capability SYS_ADMIN"
		do = fmt.Sprintf("run unstall %d on the host, or start this container with --cap-add SYS_ADMIN --pid host", pid)
	}
	return why, do
}
