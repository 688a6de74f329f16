//go:build !linux

package process

import "errors"

func diskOf(string) (string, error) { return "", errors.New("only Linux limits writes") }
