package redact

import "strings"

// kept are the environment variables that configure a runtime or name its spans.
var kept = map[string]bool{
	"GOGC": true, "GOMEMLIMIT": true, "GODEBUG": true, "GOMAXPROCS": true, "GOTRACEBACK": true,
	"DOTNET_DiagnosticPorts": true, "OTEL_SERVICE_NAME": true,
}

// options are the variables with options of a JVM.
var options = map[string]bool{"JAVA_TOOL_OPTIONS": true, "JDK_JAVA_OPTIONS": true, "_JAVA_OPTIONS": true}

// Env returns the variables ("NAME=value", as in os.Environ) that configure a runtime or name a process's telemetry, in the same order and
// with redacted values. It omits all others with their names, because no diagnosis needs them. It keeps .NET's runtime knobs
// (DOTNET_gcServer, COMPlus_GCHeapHardLimit) whose values are numbers or switches, and service.name of OTEL_RESOURCE_ATTRIBUTES.
func Env(environ []string) []string {
	var out []string
	for _, v := range environ {
		name, value, ok := strings.Cut(v, "=")
		switch {
		case !ok:
		case options[name]:
			value = string(Line([]byte(value)))
			out = append(out, name+"="+strings.TrimPrefix(Words("- "+value), "- "))
		case name == "OTEL_RESOURCE_ATTRIBUTES":
			for attribute := range strings.SplitSeq(value, ",") {
				if key, _, _ := strings.Cut(attribute, "="); strings.TrimSpace(key) == "service.name" {
					out = append(out, name+"="+string(Line([]byte(strings.TrimSpace(attribute)))))
				}
			}
		case kept[name] || isDotnetKnob(name, value):
			out = append(out, name+"="+string(Line([]byte(value))))
		}
	}
	return out
}

// isDotnetKnob says whether a variable is a runtime knob of .NET with a harmless value.
// https://learn.microsoft.com/dotnet/core/runtime-config/
func isDotnetKnob(name, value string) bool {
	rest, ok := strings.CutPrefix(name, "DOTNET_")
	if !ok {
		rest, ok = strings.CutPrefix(name, "COMPlus_")
	}
	if !ok || rest == "" || weighName([]byte(rest)) == strong || strings.HasSuffix(strings.ToLower(rest), "key") {
		return false
	}
	if value == "true" || value == "false" {
		return true
	}
	value = strings.TrimPrefix(value, "0x")
	if len(value) > 16 { // 64 bits in hexadecimal digits
		return false
	}
	return strings.Trim(value, "0123456789abcdefABCDEF") == ""
}
