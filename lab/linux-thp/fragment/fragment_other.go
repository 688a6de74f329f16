//go:build !linux

package main

import (
	"errors"
	"time"
)

func keepFragmented(float64, time.Duration, <-chan struct{}) error {
	return errors.New("there are no transparent huge pages here: this takes Linux")
}
