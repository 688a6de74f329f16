//go:build !linux

package main

import (
	"errors"
	"os"
)

func dropFileCache(*os.File) error { return errors.ErrUnsupported }
