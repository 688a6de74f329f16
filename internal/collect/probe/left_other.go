//go:build !unix

package probe

import (
	"errors"
	"os"
)

// openPrivate is not needed where nothing is switched on that stays.
func openPrivate(string) (*os.Root, error) { return nil, errors.ErrUnsupported }

func own(string) bool { return true }

func lock(*os.File) error { return errors.ErrUnsupported }

func duplicate(*os.File) (*os.File, error) { return nil, errors.ErrUnsupported }
