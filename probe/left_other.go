//go:build !unix

package probe

import (
	"errors"
	"os"
)

// openPrivate is not needed where nothing is switched on that stays.
func openPrivate(string) (*os.Root, error) { return nil, errors.ErrUnsupported }
