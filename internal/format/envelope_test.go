package format

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Each case: a file as a collector wrote it, and the lines a parser gets, as
// "number stamp text".
func TestEnvelopes(t *testing.T) {
	for _, c := range []struct {
		name      string
		in        string
		envelopes string
		want      []string
	}{
		{"bare", "gc 1 @0.1s\ngc 2 @0.2s", "", []string{"1 - gc 1 @0.1s", "2 - gc 2 @0.2s"}},
		{"bare crlf", "a\r\n\r\nb\r\n", "", []string{"1 - a", "2 - ", "3 - b"}},
		{"docker", `{"log":"gc 1 @0.1s\n","stream":"stderr","time":"2026-11-20T22:49:44.5Z"}
{"log":"say \"hi\"\t\\o/ \u003c\n","stream":"stdout","time":"2026-11-20T22:49:45Z"}
{"log":"attrs\r\n","stream":"stdout","attrs":{"time":"x"},"time":"2026-11-20T22:49:46Z"}
`, "docker", []string{"1 22:49:44.5 gc 1 @0.1s", "2 22:49:45 say \"hi\"\t\\o/ <", "3 22:49:46 attrs"}},
		{"docker pieces", `{"log":"one ","stream":"stdout","time":"2026-11-20T22:49:44Z"}
{"log":"error\n","stream":"stderr","time":"2026-11-20T22:49:45Z"}
{"log":"line\n","stream":"stdout","time":"2026-11-20T22:49:46Z"}
`, "docker", []string{"2 22:49:45 error", "1 22:49:44 one line"}},
		{"cri", `2026-11-20T22:49:44.123456789Z stderr F gc 1 @0.1s
2026-11-21T00:49:45+02:00 stdout F GET / 200
2026-11-20T22:49:46Z stdout F 
2026-11-20T22:49:47Z stdout F
`, "cri", []string{"1 22:49:44.123456789 gc 1 @0.1s", "2 22:49:45 GET / 200", "3 22:49:46 ", "4 22:49:47 "}},
		{"cri pieces", `2026-11-20T22:49:44Z stdout P one 
2026-11-20T22:49:45Z stderr F error
2026-11-20T22:49:46Z stdout P long 
2026-11-20T22:49:47Z stdout F line
2026-11-20T22:49:48Z stdout F next
`, "cri", []string{"2 22:49:45 error", "1 22:49:44 one long line", "5 22:49:48 next"}},
		{"cri without its last piece", `2026-11-20T22:49:44Z stdout F whole
2026-11-20T22:49:45Z stderr P the beginning
`, "cri", []string{"1 22:49:44 whole", "2 22:49:45 the beginning"}},
		{"journald short", `Nov 20 22:49:44 host gateway[4711]: gc 1 @0.1s
Nov 20 22:49:45 host systemd[1]: Started gateway.
Nov  2 22:49:45 host kernel: a: b
`, "journald", []string{"1 22:49:44 gc 1 @0.1s", "2 22:49:45 Started gateway.", "3 22:49:45 a: b"}},
		{"journald short-iso", `2026-11-20T22:49:44+0000 host gateway[4711]: gc 1 @0.1s
2026-11-20T23:49:45+0100 host gateway[4711]: gc 2 @0.2s
`, "journald", []string{"1 22:49:44 gc 1 @0.1s", "2 22:49:45 gc 2 @0.2s"}},
		{"rsyslog", `2026-11-20T22:49:44.5+00:00 host gateway[4711]: gc 1 @0.1s
`, "journald", []string{"1 22:49:44.5 gc 1 @0.1s"}},
		{"journald json", `{"__REALTIME_TIMESTAMP":"1795214984000000","MESSAGE":"gc 1 @0.1s"}
{"__REALTIME_TIMESTAMP":"1795214985000000","MESSAGE":[103,99,32,255]}
{"__REALTIME_TIMESTAMP":"1795214985000000","MESSAGE":null}
`, "journald", []string{"1 22:49:44 gc 1 @0.1s", "2 22:49:45 gc \xff", "3 22:49:45 "}},
		{"compose", "web-1  | gc 1 @0.1s\ndb-12  | ready\nweb-1  |\nweb-1  | a  | b\n", "compose", []string{"1 - gc 1 @0.1s", "2 - ready", "3 - ", "4 - a  | b"}},
		{"compose -t", "web-1  | 2026-11-20T22:49:44.5Z gc 1 @0.1s\nweb-1  | 2026-11-20T22:49:45Z gc 2 @0.2s\n", "compose", []string{"1 22:49:44.5 gc 1 @0.1s", "2 22:49:45 gc 2 @0.2s"}},
		{"docker service logs", "web.1.76bik@node-1    | gc 1 @0.1s\nweb.12.9f3ks@node-2   | ready\n", "compose", []string{"1 - gc 1 @0.1s", "2 - ready"}},
		{"a table", "name  | value\n a    | b\n", "", []string{"1 - name  | value", "2 -  a    | b"}},
		{"UTF-16 of Windows", "\xff\xfeg\x00c\x00 \x001\x00\r\x00\n\x00\xe4\x00=\xd8\x00\xde\n\x00", "utf-16", []string{"1 - gc 1", "2 - ä😀"}},
		{"UTF-16, the other order, cut", "\xfe\xff\x00g\x00c\x00\n\xd8\x00\x00x\x00", "utf-16", []string{"1 - gc", "2 - �x"}},
		{"UTF-8 with a mark", "\ufeffgc 1\n", "", []string{"1 - gc 1"}},
		{"kubectl --timestamps", `2026-11-20T22:49:44.5Z gc 1 @0.1s
2026-11-20T22:49:45Z ERROR database: gone
`, "timestamps", []string{"1 22:49:44.5 gc 1 @0.1s", "2 22:49:45 ERROR database: gone"}},
		{"some lines without", `2026-11-20T22:49:44Z stdout F a
2026-11-20T22:49:45Z stdout F b
torn line
2026-11-20T22:49:46Z stdout F c
`, "cri", []string{"1 22:49:44 a", "2 22:49:45 b", "3 - torn line", "4 22:49:46 c"}},
		{"jvm log that only looks stamped", `2020-03-25T16:16:18.390+0800: 1294233.934: [GC (Allocation Failure)
2020-03-25T16:16:18.391+0800: 1294233.935: [ParNew: 1770060K->25950K
`, "", []string{"1 - 2020-03-25T16:16:18.390+0800: 1294233.934: [GC (Allocation Failure)", "2 - 2020-03-25T16:16:18.391+0800: 1294233.935: [ParNew: 1770060K->25950K"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := text(c.in)
			var got []string
			if err := a.Lines(func(l Line) bool {
				got = append(got, show(l))
				return true
			}); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
			if e := strings.Join(a.Envelopes(), " "); e != c.envelopes {
				t.Errorf("envelopes %q, want %q", e, c.envelopes)
			}
			// Match sees the same lines as Parse.
			head, _ := a.readHead()
			var bare []string
			for _, l := range got {
				bare = append(bare, strings.SplitN(l, " ", 3)[2])
			}
			if c.envelopes != "" && c.envelopes != "utf-16" && string(head) != strings.Join(bare, "\n")+"\n" {
				t.Errorf("head %q, want %q", head, bare)
			}
		})
	}
}

func show(l Line) string {
	stamp := "-"
	if l.Stamp != 0 {
		stamp = time.Unix(0, l.Stamp).UTC().Format("15:04:05.999999999")
	}
	return fmt.Sprintf("%d %s %s", l.Number, stamp, l.Text)
}

// The short form has no year: it is the one before the file was written.
func TestSyslogYear(t *testing.T) {
	written := time.Date(2024, 1, 3, 12, 0, 0, 0, time.UTC)
	for in, want := range map[string]string{
		"Jan  3 11:59:59 host a[1]: x\n": "2024-01-03T11:59:59Z",
		"Dec 31 23:59:59 host a[1]: x\n": "2023-12-31T23:59:59Z",
	} {
		a := text(in)
		a.Modified = written.UnixNano()
		_ = a.Lines(func(l Line) bool {
			if got := time.Unix(0, l.Stamp).UTC().Format(time.RFC3339); got != want {
				t.Errorf("%q: %s, want %s", in, got, want)
			}
			return true
		})
	}
}

func TestRFC3339(t *testing.T) {
	for _, s := range []string{
		"2026-11-20T22:49:44Z", "2026-11-20T22:49:44.123456789Z", "2024-02-29T00:00:00+05:30", "2000-03-01T12:00:00-11:00",
		"1999-12-31T23:59:59.999Z", "2100-02-28T00:00:00Z", "2100-03-01T00:00:00Z",
	} {
		want, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			t.Fatal(err)
		}
		if got, n := parseRFC3339([]byte(s + " x")); got != want.UnixNano() || n != len(s) {
			t.Errorf("%s: %d (%d bytes), want %d (%d bytes)", s, got, n, want.UnixNano(), len(s))
		}
	}
	for _, s := range []string{"", "2026-11-20", "2026-11-20T22:49:44", "2026-11-20T22:49:44 Z", "2026-13-20T22:49:44Z", "2026-11-20T25:49:44Z", "2026-11-20T22:49:44+1", "0001-01-01T00:00:00Z"} {
		if got, n := parseRFC3339([]byte(s)); got != 0 || n != 0 {
			t.Errorf("%q was read as %d, %d", s, got, n)
		}
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("2026-11-20T22:49:44Z stdout P a\n2026-11-20T22:49:44Z stdout F b\n"))
	f.Add([]byte(`{"log":"a\n","stream":"stderr","time":"2026-11-20T22:49:44Z"}`))
	f.Add([]byte(`{"__REALTIME_TIMESTAMP":"1795214984000000","MESSAGE":[1,2]}`))
	f.Add([]byte("Nov 20 22:49:44 host a[1]: x\n\x1f\x8b"))
	f.Add([]byte("web-1  | a\nweb-1  | 2026-11-20T22:49:44Z b\n"))
	f.Add([]byte("\xff\xfea\x00\n\x00\x00\xd8b\x00"))
	f.Fuzz(func(t *testing.T, in []byte) {
		a := text(string(in))
		var last int64
		_ = a.Lines(func(l Line) bool {
			if len(l.Text) > MaxLine || l.Number < 1 {
				t.Fatalf("line %d has %d bytes", l.Number, len(l.Text))
			}
			if a.envelope == nil && l.Number != last+1 {
				t.Fatalf("line %d after %d", l.Number, last)
			}
			last = l.Number
			return true
		})
	})
}
