//go:build !unix

package probe

import (
	"errors"
	"os"
)

// openPrivate is not needed, because nothing that stays on is switched on here.
func openPrivate(string) (*os.Root, error) { return nil, errors.ErrUnsupported }

func isOwnDir(string) bool { return true }

func lockFile(*os.File) error { return errors.ErrUnsupported }

func duplicateFile(*os.File) (*os.File, error) { return nil, errors.ErrUnsupported }
