package diagnose

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// JSON says what is needed as sentences and by parts, where no command is null; what was
// written before there were parts is read as words.
func TestNeedsAsJSON(t *testing.T) {
	needs := []Need{{What: "a <trace>", Command: "curl -o trace.out"}, {What: "a longer log: some minutes-long"}}
	text, err := json.Marshal(Verdict{Cause: "go.gc-rate", Needs: needs})
	if err != nil {
		t.Fatal(err)
	}
	const want = `"needs":["a \u003ctrace\u003e: curl -o trace.out","a longer log: some minutes-long"],` +
		`"needs_commands":[{"what":"a \u003ctrace\u003e","command":"curl -o trace.out"},{"what":"a longer log: some minutes-long","command":null}]`
	if !strings.Contains(string(text), want) {
		t.Errorf("%s\nlacks\n%s", text, want)
	}
	var v Verdict
	if err := json.Unmarshal(text, &v); err != nil || v.Cause != "go.gc-rate" || !slices.Equal(v.Needs, needs) {
		t.Errorf("%+v, %v", v, err)
	}
	v = Verdict{}
	if err := json.Unmarshal([]byte(`{"needs":["a trace: curl -o trace.out"]}`), &v); err != nil || !slices.Equal(v.Needs, []Need{{What: "a trace: curl -o trace.out"}}) {
		t.Errorf("%+v, %v", v, err)
	}
}
