//go:build !linux

package discover

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"

	"github.com/unstall/unstall/internal/collect/discover/container"
)

// errLinux is the error of functions that need /proc.
var errLinux = errors.New("processes can be diagnosed on Linux only: give files, or http://host:port of a Go service's net/http/pprof")

func resolveProcess(_ context.Context, arg string, _ []Recogniser) (Target, error) {
	return Target{}, fmt.Errorf("%s: no such file, and %w", arg, errLinux)
}

func resolveContainer(_ context.Context, arg string, _ container.Query, _ []Recogniser) (Target, error) {
	return Target{}, fmt.Errorf("%s: %w", arg, errLinux)
}

func resolveListener(context.Context, []netip.Addr, uint16, []Recogniser) (Target, error) {
	return Target{}, nil
}

func listenerAt(context.Context, string, []Recogniser) (Target, error) { return Target{}, nil }

// Discover finds the processes here that can be diagnosed. It needs Linux.
func Discover(context.Context, []Recogniser) ([]Found, error) { return nil, errLinux }

// DiscoverAll finds all processes that can be diagnosed. It needs Linux.
func DiscoverAll(context.Context, []Recogniser) ([]Found, error) { return nil, errLinux }

// Hsperfdata opens the counters of a JVM. It needs Linux.
func Hsperfdata(int) (*os.File, error) { return nil, errLinux }
