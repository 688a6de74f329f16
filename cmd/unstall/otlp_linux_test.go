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

	"github.com/unstall/unstall/internal/diagnose"
)

// Spans that services send during a recording become requests. Those of the service that the process's environment names are the
// process's own.
func TestSpansWhileRecording(t *testing.T) {
	target := program(t, "touch")
	target.Env = append(target.Environ(), "OTEL_SERVICE_NAME=shop")
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
		if _, at, is := strings.Cut(lines.Text(), "receiving spans at "); is {
			address, _, _ = strings.Cut(at, ": start")
		}
		if strings.HasPrefix(lines.Text(), "recording for") {
			break
		}
	}
	if address == "" {
		t.Fatalf("no address: %v", lines.Err())
	}
	var services []string
	for n, service := range []string{"shop", "mail"} {
		var spans []string
		for i := range 50 {
			from := time.Now().UnixNano()
			id := 50*n + i + 1
			spans = append(spans, fmt.Sprintf(`{"traceId":"%032x","spanId":"%016x","name":"GET /play","kind":2,"startTimeUnixNano":"%d","endTimeUnixNano":"%d"}`, id, id, from-3e6, from))
		}
		services = append(services, `{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"`+service+`"}}]},"scopeSpans":[{"spans":[`+strings.Join(spans, ",")+`]}]}`)
	}
	body := `{"resourceSpans":[` + strings.Join(services, ",") + `]}`
	var code int
	eventually(t, "spans are taken", func() bool { // it listens before it accepts spans
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
	if d.Requests == nil || d.Requests.Count != 100 {
		t.Errorf("requests: %+v", d.Requests)
	}
	var targets []string
	for _, x := range d.Targets {
		targets = append(targets, x.ID)
	}
	if all := strings.Join(targets, "|"); !strings.Contains(all, fmt.Sprint("pid ", target.Process.Pid)) || !strings.Contains(all, "mail") || strings.Contains(all, "shop") {
		t.Errorf("targets are %q, want the spans of shop to be of the process, and mail apart", targets)
	}
	for _, x := range d.Warnings {
		if strings.Contains(x.Text, "unclear") {
			t.Errorf("warned: %s", x.Text)
		}
	}
}
