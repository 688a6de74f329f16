//go:build unix

package hotspot

import "syscall"

// noFollow prevents following a link at the end of a path.
const noFollow = syscall.O_NOFOLLOW
