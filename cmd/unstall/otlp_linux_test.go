package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/unstall/unstall/diagnose"
)

// Spans that a service sends while it is recorded are its requests.
func TestSpansWhileRecording(t *testing.T) {
	target := program(t, "touch")
	if err := target.Start(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.unstall")
	run := program(t, "unstall", fmt.Sprint(target.Process.Pid), "--for", "5m", "--passive", "--otlp", "127.0.0.1:0", "--capture", path, "--format", "json")
	var out bytes.Buffer
	run.Stdout = &out
	stderr, err := run.StderrPipe()
	if err == nil {
		err = run.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	address := ""
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if _, at, is := strings.Cut(lines.Text(), "taking spans at "); is {
			address, _, _ = strings.Cut(at, ": start")
		}
		if strings.HasPrefix(lines.Text(), "recording for") {
			break
		}
	}
	if address == "" {
		t.Fatalf("no address: %v", lines.Err())
	}
	var spans []string
	for i := range 50 {
		from := time.Now().UnixNano()
		spans = append(spans, fmt.Sprintf(`{"traceId":"%032x","spanId":"%016x","name":"GET /play","kind":2,"startTimeUnixNano":"%d","endTimeUnixNano":"%d"}`, i+1, i+1, from-3e6, from))
	}
	body := `{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},"scopeSpans":[{"spans":[` + strings.Join(spans, ",") + `]}]}]}`
	var code int
	eventually(t, "spans are taken", func() bool { // it listens before it takes any
		a, err := http.Post(address+"/v1/traces", "application/json", strings.NewReader(body))
		if err != nil {
			return false
		}
		_ = a.Body.Close()
		code = a.StatusCode
		return true
	})
	if err := run.Process.Signal(syscall.SIGINT); err != nil || code != http.StatusOK {
		t.Fatal(code, err)
	}
	for lines.Scan() {
		t.Log(lines.Text())
	}
	_ = run.Wait()
	var d diagnose.Diagnosis
	if err := json.Unmarshal(out.Bytes(), &d); err != nil {
		t.Fatalf("%v: %s", err, out.String())
	}
	if d.Requests == nil || d.Requests.Count != 50 {
		t.Errorf("requests: %+v", d.Requests)
	}
}
