//go:build !linux

package main

import (
	"errors"
	"os"
)

func uncache(*os.File) error { return errors.ErrUnsupported }
