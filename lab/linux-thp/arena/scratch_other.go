//go:build !linux

package main

import (
	"errors"
	"os"
)

var errLinux = errors.New("there are no transparent huge pages here: this takes Linux")

func useScratch(int, int) error { return errLinux }

func withoutHugePages() error { return errLinux }

func dropFileCache(*os.File) error { return errLinux }
