//go:build !linux

package gopprof

import (
	"context"
	"errors"
	"net"
)

func elsewhere(int) bool { return false }

func enterable(int) error { return errors.ErrUnsupported }

func dialIn(int) func(context.Context, string, string) (net.Conn, error) { return nil }

func whyNot(int, error) (why, do string) { return "", "" }

func socketPath(path string, _ int) string { return path }
