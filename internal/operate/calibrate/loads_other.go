//go:build !linux

package calibrate

import "errors"

var errOther = errors.New("only on Linux")

func squareRoots(int) func(string, func() bool) error { return none }

func none(string, func() bool) error { return errOther }

var fsyncs, writes, touches, packets, futexes, pipes = none, none, none, none, none, none

func inMemory(string) bool { return false }
