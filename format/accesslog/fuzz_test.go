package accesslog

import (
	"testing"
	"time"

	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/format"
)

func FuzzParse(f *testing.F) {
	f.Add(logOf(5))
	f.Add(jsonOf(5))
	f.Add([]byte("time=2026-10-10T13:55:36.2Z method=GET path=\"/a\\\"b\" status=200 duration=1m2.3s\n"))
	f.Add([]byte("[2026-10-10T13:55:36.123Z] \"GET /a HTTP/2\" 200 - 0 154 12 11 \"-\" \"a\" \"b\" \"c\" \"10.0.0.9:8080\"\n"))
	f.Add([]byte("10.0.1.2:33317 [06/Feb/2026:12:14:14.655] in b/s 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 \"GET /i HTTP/1.1\"\n"))
	f.Add([]byte("time:10/Oct/2026:13:55:36 +0900\treq:GET /p HTTP/1.1\tstatus:200\treqtime:0.012\n"))
	f.Add([]byte("[GIN] 2026/10/10 - 13:55:36 | 200 |      1.2345ms | 127.0.0.1 | GET      \"/ping/17\"\n"))
	f.Add([]byte(`{"ts":1791640536.25,"request":{"method":"GET","uri":"/p\u0026"},"duration":8.1e-05,"status":200}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		match(data)
		b := evidence.NewBundle()
		a := b.AddArtifact(evidence.Artifact{Name: "fuzz"})
		p := b.Builder(a, "accesslog")
		_ = parse(t.Context(), artifact("fuzz", data), p)
		p.Close()
		for i := range b.Requests.Len() {
			q := b.Requests.Row(i)
			if q.End < q.Start || q.Origin.Position() < 1 {
				t.Fatalf("request %d: %+v", i, q)
			}
			var sum int64
			for s := range q.Path.All {
				sum += s.Dur
			}
			if q.Path != nil && sum != q.End-q.Start {
				t.Fatalf("states sum to %d of %d", sum, q.End-q.Start)
			}
		}
	})
}

func BenchmarkText(b *testing.B) { benchmark(b, logOf(100_000)) }
func BenchmarkJSON(b *testing.B) { benchmark(b, jsonOf(100_000)) }
func BenchmarkApache(b *testing.B) {
	benchmark(b, timed(100_000, 2*time.Millisecond, time.Microsecond, true))
}

func benchmark(b *testing.B, log []byte) {
	b.SetBytes(int64(len(log)))
	b.ReportAllocs()
	for b.Loop() {
		if n := mustRead(b, log).Requests.Len(); n != 100_000 {
			b.Fatal(n)
		}
	}
}

func BenchmarkMatch(b *testing.B) {
	head := logOf(2000)[:format.HeadSize]
	b.SetBytes(int64(len(head)))
	for b.Loop() {
		match(head)
	}
}
