//go:build !linux

package main

import "errors"

func (c *launchCommand) execCommand() error { return errors.New("available only on Linux") }
