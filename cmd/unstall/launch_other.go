//go:build !linux

package main

import "errors"

func (c *launchCommand) launch() error { return errors.New("settings of a process are those of Linux") }
