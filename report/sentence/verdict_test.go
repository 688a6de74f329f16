package sentence

import "testing"

func TestNeed(t *testing.T) {
	for text, want := range map[string]Need{
		"needs root: sudo unstall 4711":                        {"needs root", "sudo unstall 4711"},
		"record it: unstall record PID":                        {"record it", "unstall record PID"},
		"a trace shows it: curl -o trace.out 'http://a/trace'": {"a trace shows it", "curl -o trace.out 'http://a/trace'"},
		"run it with: GODEBUG=gctrace=1":                       {"run it with", "GODEBUG=gctrace=1"},
		"requests, to say what it costs them: add a trace":     {Words: "requests, to say what it costs them: add a trace"},
		"a longer recording":                                   {Words: "a longer recording"},
	} {
		if got := need(text); got != want {
			t.Errorf("%q: %q and %q, want %q and %q", text, got.Words, got.Command, want.Words, want.Command)
		}
	}
}
