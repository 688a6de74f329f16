//go:build !linux

package main

import "errors"

func (c *launchCommand) launch() error { return errors.New("available only on Linux") }
