package accesslog

import (
	"fmt"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// TestKeys checks that an id is read alike from all logs, and that counters are no ids.
func TestKeys(t *testing.T) {
	const id = "4bf92f3577b34da6a3ce929d0e0e4736"
	want := evidence.KeyOf([]byte(id))
	for name, line := range map[string]string{
		"JSON":        `{"time":"2026-10-10T13:55:36.%03dZ","method":"GET","path":"/a","status":200,"duration_ms":3,"trace_id":"` + strings.ToUpper(id) + `"}`,
		"traceparent": `{"time":"2026-10-10T13:55:36.%03dZ","method":"GET","path":"/a","status":200,"duration_ms":3,"traceparent":"00-` + id + `-00f067aa0ba902b7-01"}`,
		"logfmt":      `time=2026-10-10T13:55:36.%03dZ method=GET path=/a status=200 duration=3ms trace_id=` + id,
		"nginx":       `10.0.0.1 - - [10/Oct/2026:13:55:36 +0000] "GET /a HTTP/1.1" 200 612 1791640536.%03d rt=0.003 urt="0.002" request_id=` + id,
		"Envoy":       `[2026-10-10T13:55:36.%03dZ] "GET /a HTTP/2" 200 - 0 154 12 11 "-" "agent" "` + id + `" "shop" "10.0.0.9:8080"`,
	} {
		t.Run(name, func(t *testing.T) {
			var log strings.Builder
			for k := range 20 {
				fmt.Fprintf(&log, line+"\n", k)
			}
			b := suite.MustRead(t, []byte(log.String()))
			if n := b.Requests.Len(); n != 20 {
				t.Fatalf("%d requests", n)
			}
			if got := b.Requests.Key.At(7); got != want {
				t.Errorf("the key is %d, want %d", got, want)
			}
		})
	}
	b := suite.MustRead(t, []byte(strings.Repeat(`{"time":"2026-10-10T13:55:36.1Z","method":"GET","path":"/a","status":200,"duration_ms":3,"request_id":"17"}`+"\n", 5)))
	if got := b.Requests.Key.At(0); got != 0 {
		t.Errorf("a counter is the key %d", got)
	}
}
