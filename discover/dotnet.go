package discover

import (
	"path"
	"strings"
)

// launchedByDotnet is the assembly that a command line "dotnet [exec] [options]
// Shop.dll …" runs, without its extension; "" for the commands of the SDK, which
// end in a process of their own. The options are those of the host:
// https://learn.microsoft.com/dotnet/core/tools/dotnet#runtime-options
func launchedByDotnet(args []string) string {
	if len(args) > 1 && args[1] == "exec" {
		args = args[1:]
	}
	for i := 1; i < len(args); i++ {
		switch {
		case args[i] == "-d" || args[i] == "--diagnostics":
		case strings.HasPrefix(args[i], "--"):
			i++ // all others have a value
		default:
			for _, extension := range []string{".dll", ".exe"} {
				if assembly, ok := strings.CutSuffix(path.Base(args[i]), extension); ok {
					return assembly
				}
			}
			return ""
		}
	}
	return ""
}
