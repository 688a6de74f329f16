//go:build !linux

package main

import "syscall"

func ends() *syscall.SysProcAttr { return nil }
