//go:build !linux

package reach

import (
	"context"
	"errors"
	"net"
)

// Elsewhere says whether a process has another network than this one.
func Elsewhere(int) bool { return false }

// Enterable says why the network namespace of a process cannot be entered.
func Enterable(int) error { return errors.ErrUnsupported }

// DialIn connects from within the network namespace of a process.
func DialIn(int) func(context.Context, string, string) (net.Conn, error) { return nil }

// WhyNot is what stands between us and a namespace.
func WhyNot(int, error, string) (why, do string) { return "", "" }

// SocketPath is where this process finds a socket that another one made.
func SocketPath(path string, _ int) string { return path }
