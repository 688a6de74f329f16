//go:build !linux

package main

// giveBack leaves memory as it is: the lab is measured on Linux.
func giveBack([]byte) {}
