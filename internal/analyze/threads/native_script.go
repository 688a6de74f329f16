package threads

import (
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// scriptWait is the function with which JavaScript keeps its thread waiting (https://tc39.es/ecma262, Atomics.wait).
const scriptWait = "Atomics.wait"

// scriptWaits is a part of the name of V8's function that does so (src/builtins/builtins-sharedarraybuffer.cc).
const scriptWaits = "Builtin_AtomicsWait"

// waitsInScript says whether a thread is in Atomics.wait.
func waitsInScript(frames []string) bool {
	return slices.ContainsFunc(frames, func(f string) bool { return strings.Contains(f, scriptWaits) })
}

// sleepsInScript says whether a function called sleep is in Atomics.wait: JavaScript has no other way to sleep on its thread (atomic-sleep and the
// like). Nothing wakes it before its time.
func sleepsInScript(frames []string) bool {
	at := slices.IndexFunc(frames, func(f string) bool { return strings.Contains(f, scriptWaits) })
	for _, f := range frames[at+1:] {
		if name, _ := nativeFunction(f); name != "" && name != evidence.UnknownFunction && !strings.HasPrefix(name, "Builtins_") {
			return strings.HasPrefix(strings.ToLower(name), "sleep")
		}
	}
	return false
}
