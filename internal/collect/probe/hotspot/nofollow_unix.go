//go:build unix

package hotspot

import "syscall"

// noFollow has a link at the end of a path not followed.
const noFollow = syscall.O_NOFOLLOW
