//go:build !unix

package main

import "syscall"

// shareAddress leaves a socket as it is: this system has another rule for who may listen.
func shareAddress(string, string, syscall.RawConn) error { return nil }
