//go:build !unix

package load

import "time"

func openFiles() int         { return 1000 }
func cpuTime() time.Duration { return 0 }
