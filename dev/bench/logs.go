//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"time"

	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/accesslog"
	"github.com/unstall/unstall/internal/format/gauges"
	"github.com/unstall/unstall/internal/format/gctrace"
	"github.com/unstall/unstall/internal/format/gopprof"
	"github.com/unstall/unstall/internal/format/loadresult"
	"github.com/unstall/unstall/internal/format/spans"
)

// measureLogs measures the other formats, each with input of its own, and the memory that a large
// access log takes (large is a quarter of its MB, 0: not measured).
func measureLogs(dir string, rounds, large int) error {
	printHeading("Logs, profiles and load results")
	for _, c := range []struct {
		what   string
		format format.Format
		input  func() []byte
		asked  float64 // MB/s, 0: none
	}{
		{"gctrace", gctrace.Format, gcLog, 400},
		{"access log, text", accesslog.Format, accessText, 400},
		{"access log, JSON", accesslog.Format, accessJSON, 400},
		{"spans, Jaeger JSON", spans.Format, jaegerSpans, 150},
		{"gauges of a pool, CSV", gauges.Format, poolGauges, 150},
		{"CPU profile, as it comes (gzip)", gopprof.Format, cpuProfile, 0},
		{"goroutine dump, text", gopprof.Format, goroutineDump, 0},
		{"vegeta results, CSV", loadresult.Format, vegetaCSV, 0},
		{"k6 output, JSON lines", loadresult.Format, k6Lines, 0},
	} {
		data := c.input()
		a := newArtifact(c.what, data)
		var speed figures
		for range rounds {
			took, err := measureCost(func() error { return readArtifact(a, c.format) })
			if err != nil {
				return err
			}
			speed = append(speed, float64(len(data))/1e6/took.wall)
		}
		asked := ""
		if c.asked > 0 {
			asked = fmt.Sprintf("≥ %.0f", c.asked)
		}
		printRow(c.what, speed.formatMedian("%.0f")+" MB/s", asked, speed.median() >= c.asked)
	}
	if large == 0 {
		return nil
	}
	return accessMemory(filepath.Join(dir, "access.log"), 4*int64(large)*1e6)
}

// accessMemory reads a large access log in a process of its own.
func accessMemory(path string, size int64) error {
	if err := writeAccess(path, size); err != nil {
		return err
	}
	defer os.Remove(path)
	self, err := os.Executable()
	if err != nil {
		return err
	}
	out, err := exec.Command(self, "-peak", path).Output()
	if err != nil {
		return err
	}
	var requests, rows, peak int64
	var seconds float64
	if _, err := fmt.Sscan(string(out), &requests, &rows, &peak, &seconds); err != nil || requests == 0 {
		return fmt.Errorf("reading a large access log said %q: %w", out, err)
	}
	each := float64(peak) / float64(requests)
	printRow(fmt.Sprintf("access log, %d MB: peak by request", size/1e6), fmt.Sprintf("%.0f B of %d, in %.1f s", each, requests, seconds), "≤ 60 B", each <= 60)
	return nil
}

const lines = 100_000

func generateLines(line func(w *bytes.Buffer, i int)) []byte {
	var w bytes.Buffer
	for i := range lines {
		line(&w, i)
	}
	return w.Bytes()
}

var began = time.Date(2026, 10, 10, 13, 0, 0, 0, time.UTC)

func timeOfLine(i int) time.Time { return began.Add(time.Duration(i) * time.Millisecond) }

func gcLog() []byte {
	return generateLines(func(w *bytes.Buffer, i int) {
		fmt.Fprintf(w, "gc %d @%.3fs 18%%: 0.10+14+0.024 ms clock, 0.21+0.33/7.5/1.0+0.048 ms cpu, %d->82->41 MB, 80 MB goal, 0 MB stacks, 0 MB globals, 2 P\n", i+1, .007+.118*float64(i), 70+i%10)
	})
}

func accessText() []byte {
	return generateLines(func(w *bytes.Buffer, i int) { _, _ = accessLine(w, i) })
}

func accessJSON() []byte {
	return generateLines(func(w *bytes.Buffer, i int) {
		fmt.Fprintf(w, `{"level":"info","ts":"%s","msg":"request","remote_addr":"198.51.100.%d:5123","method":"GET","uri":"/play/%d","status":200,"duration_ms":%d.25,"bytes":512}`+"\n",
			timeOfLine(i).Format(time.RFC3339Nano), i%250, i*37%5000, 2+i*7%90)
	})
}

func poolGauges() []byte {
	var w bytes.Buffer
	w.WriteString("time,pool,active,idle,pending,total,max\n")
	return append(w.Bytes(), generateLines(func(w *bytes.Buffer, i int) {
		fmt.Fprintf(w, "%d,db,%d,%d,0,10,10\n", timeOfLine(i).Unix(), i%8, 10-i%8)
	})...)
}

// jaegerSpans returns traces of a request and its call.
func jaegerSpans() []byte {
	var w bytes.Buffer
	w.WriteString(`{"data":[`)
	for i := range lines / 4 {
		if i > 0 {
			w.WriteByte(',')
		}
		us := timeOfLine(i).UnixMicro()
		fmt.Fprintf(&w, `{"traceID":"%016x","spans":[{"traceID":"%016[1]x","spanID":"%016[2]x","operationName":"GET /play","references":[],"startTime":%d,"duration":%d,"tags":[{"key":"span.kind","type":"string","value":"server"},{"key":"http.status_code","type":"int64","value":200}],"processID":"p1"},`+
			`{"traceID":"%016[1]x","spanID":"%016[5]x","operationName":"SELECT orders","references":[{"refType":"CHILD_OF","traceID":"%016[1]x","spanID":"%016[2]x"}],"startTime":%[3]d,"duration":%[6]d,"tags":[{"key":"span.kind","type":"string","value":"client"},{"key":"peer.service","type":"string","value":"db"}],"processID":"p1"}],`+
			`"processes":{"p1":{"serviceName":"shop","tags":[]}}}`, i+1, 2*i+1, us, 5000+i%900, 2*i+2, 3000+i%700)
	}
	w.WriteString("]}")
	return w.Bytes()
}

// cpuProfile returns a CPU profile of this program while it writes logs.
func cpuProfile() []byte {
	var w bytes.Buffer
	if pprof.StartCPUProfile(&w) == nil {
		for until := time.Now().Add(time.Second); time.Now().Before(until); {
			accessText()
			accessJSON()
		}
		pprof.StopCPUProfile()
	}
	return w.Bytes()
}

func goroutineDump() []byte {
	return generateLines(func(w *bytes.Buffer, i int) {
		fmt.Fprintf(w, "goroutine %d [select, %d minutes]:\nmain.worker(0xc000012345)\n\t/src/main.go:%d +0x1d\nmain.run()\n\t/src/main.go:7 +0x2a\ncreated by main.main in goroutine 1\n\t/src/main.go:3 +0x1\n\n", i+1, i%60, 10+i%20)
	})
}

func vegetaCSV() []byte {
	return generateLines(func(w *bytes.Buffer, i int) {
		fmt.Fprintf(w, "%d,200,%d,0,11,,aGVsbG8gd29ybGQ=,,%d,GET,http://127.0.0.1:8080/play/17,Q29udGVudC1MZW5ndGg6IDExDQo=\n", timeOfLine(i).UnixNano(), 2_000_000+i%500_000, i)
	})
}

func k6Lines() []byte {
	return generateLines(func(w *bytes.Buffer, i int) {
		fmt.Fprintf(w, `{"metric":"http_req_duration","type":"Point","data":{"time":"%s","value":%d.125,"tags":{"expected_response":"true","group":"","method":"GET","name":"http://127.0.0.1:8080/play","proto":"HTTP/1.1","scenario":"default","status":"200","url":"http://127.0.0.1:8080/play"}}}`+"\n",
			timeOfLine(i).Format(time.RFC3339Nano), 1+i%40)
	})
}
