//go:build linux

package main

import (
	"bytes"
	"fmt"
	"runtime/pprof"
	"time"

	"github.com/unstall/unstall/format"
	"github.com/unstall/unstall/format/accesslog"
	"github.com/unstall/unstall/format/gctrace"
	"github.com/unstall/unstall/format/gopprof"
	"github.com/unstall/unstall/format/loadresult"
)

// logs measures the other formats, each with input of its own.
func logs(rounds int) error {
	heading("Logs, profiles and load results")
	for _, c := range []struct {
		what   string
		format format.Format
		input  func() []byte
		asked  float64 // MB/s, 0: none
	}{
		{"gctrace", gctrace.Format, gcLog, 200},
		{"access log, text", accesslog.Format, accessText, 0},
		{"access log, JSON", accesslog.Format, accessJSON, 0},
		{"CPU profile, as it comes (gzip)", gopprof.Format, cpuProfile, 0},
		{"goroutine dump, text", gopprof.Format, goroutineDump, 0},
		{"vegeta results, CSV", loadresult.Format, vegetaCSV, 0},
		{"k6 output, JSON lines", loadresult.Format, k6Lines, 0},
	} {
		data := c.input()
		a := artifact(c.what, data)
		var speed figures
		for range rounds {
			took, err := measure(func() error { return read(a, c.format) })
			if err != nil {
				return err
			}
			speed = append(speed, float64(len(data))/1e6/took.wall)
		}
		asked := ""
		if c.asked > 0 {
			asked = fmt.Sprintf("≥ %.0f", c.asked)
		}
		row(c.what, speed.of("%.0f")+" MB/s", asked, speed.median() >= c.asked)
	}
	return nil
}

const lines = 100_000

func written(line func(w *bytes.Buffer, i int)) []byte {
	var w bytes.Buffer
	for i := range lines {
		line(&w, i)
	}
	return w.Bytes()
}

var began = time.Date(2026, 10, 10, 13, 0, 0, 0, time.UTC)

func at(i int) time.Time { return began.Add(time.Duration(i) * time.Millisecond) }

func gcLog() []byte {
	return written(func(w *bytes.Buffer, i int) {
		fmt.Fprintf(w, "gc %d @%.3fs 18%%: 0.10+14+0.024 ms clock, 0.21+0.33/7.5/1.0+0.048 ms cpu, %d->82->41 MB, 80 MB goal, 0 MB stacks, 0 MB globals, 2 P\n", i+1, .007+.118*float64(i), 70+i%10)
	})
}

func accessText() []byte {
	return written(func(w *bytes.Buffer, i int) {
		fmt.Fprintf(w, "198.51.100.%d - - [%s] \"GET /play/%d?token=abc HTTP/1.1\" 200 %d \"-\" \"Mozilla/5.0 (X11; Linux x86_64)\" 0.%03d 0.%03d\n",
			i%250, at(i).Format("02/Jan/2006:15:04:05 -0700"), i*37%5000, 500+i%900, 20+i*7%900, 10+i*7%900)
	})
}

func accessJSON() []byte {
	return written(func(w *bytes.Buffer, i int) {
		fmt.Fprintf(w, `{"level":"info","ts":"%s","msg":"request","remote_addr":"198.51.100.%d:5123","method":"GET","uri":"/play/%d","status":200,"duration_ms":%d.25,"bytes":512}`+"\n",
			at(i).Format(time.RFC3339Nano), i%250, i*37%5000, 2+i*7%90)
	})
}

// cpuProfile is a profile of this program writing logs.
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
	return written(func(w *bytes.Buffer, i int) {
		fmt.Fprintf(w, "goroutine %d [select, %d minutes]:\nmain.worker(0xc000012345)\n\t/src/main.go:%d +0x1d\nmain.run()\n\t/src/main.go:7 +0x2a\ncreated by main.main in goroutine 1\n\t/src/main.go:3 +0x1\n\n", i+1, i%60, 10+i%20)
	})
}

func vegetaCSV() []byte {
	return written(func(w *bytes.Buffer, i int) {
		fmt.Fprintf(w, "%d,200,%d,0,11,,aGVsbG8gd29ybGQ=,,%d,GET,http://127.0.0.1:8080/play/17,Q29udGVudC1MZW5ndGg6IDExDQo=\n", at(i).UnixNano(), 2_000_000+i%500_000, i)
	})
}

func k6Lines() []byte {
	return written(func(w *bytes.Buffer, i int) {
		fmt.Fprintf(w, `{"metric":"http_req_duration","type":"Point","data":{"time":"%s","value":%d.125,"tags":{"expected_response":"true","group":"","method":"GET","name":"http://127.0.0.1:8080/play","proto":"HTTP/1.1","scenario":"default","status":"200","url":"http://127.0.0.1:8080/play"}}}`+"\n",
			at(i).Format(time.RFC3339Nano), 1+i%40)
	})
}
