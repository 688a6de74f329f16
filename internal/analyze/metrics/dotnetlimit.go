package metrics

import (
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// hardLimits are the environment variables that set .NET's heap limit for a process: in bytes, hexadecimal
// (https://learn.microsoft.com/dotnet/core/runtime-config/garbage-collector#heap-limit).
var hardLimits = []string{"DOTNET_GCHeapHardLimit", "COMPlus_GCHeapHardLimit"}

// HeapHardLimit returns the heap limit of a .NET process by its environment, bytes.
func HeapHardLimit(b *evidence.Bundle, subject evidence.SubjectID) Value {
	for _, key := range hardLimits {
		f, ok := b.Fact(subject, key)
		if !ok {
			continue
		}
		if n, err := strconv.ParseUint(strings.TrimPrefix(f.Value, "0x"), 16, 63); err == nil && n > 0 {
			return Value{Number: float64(n), Origin: f.Origin, Watched: 1}
		}
	}
	return Unknown
}
