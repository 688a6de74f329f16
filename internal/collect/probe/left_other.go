//go:build !unix

package probe

import (
	"errors"
	"os"
)

// openPrivate is not needed where nothing is switched on that stays.
func openPrivate(string) (*os.Root, error) { return nil, errors.ErrUnsupported }

func isOwnDir(string) bool { return true }

func lockFile(*os.File) error { return errors.ErrUnsupported }

func duplicateFile(*os.File) (*os.File, error) { return nil, errors.ErrUnsupported }
