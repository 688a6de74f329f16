package exchanges

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// message makes a DNS message with one question.
func messageOf(t testing.TB, id uint16, name string, kind dnsmessage.Type, change func(m *dnsmessage.Message)) []byte {
	t.Helper()
	m := dnsmessage.Message{Header: dnsmessage.Header{ID: id, RecursionDesired: true},
		Questions: []dnsmessage.Question{{Name: dnsmessage.MustNewName(name), Type: kind, Class: dnsmessage.ClassINET}}}
	if change != nil {
		change(&m)
	}
	b, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A line has the type of a query, and the registrable domain of its name.
func TestReadQuery(t *testing.T) {
	long := strings.Repeat("a23456789.", 25) + "org."
	for name, want := range map[string]string{
		"user-4711.api.example.com.":    "AAAA example.com",
		"WWW.Example.CO.UK.":            "AAAA example.co.uk",
		"gateway.carrier.internal.":     "AAAA carrier.internal",
		"db.shop.svc.cluster.local.":    "AAAA cluster.local",
		"secret.blob.core.windows.net.": "AAAA blob.core.windows.net",
		"secret.github.io.":             "AAAA github.io",
		"7.0.0.10.in-addr.arpa.":        "AAAA in-addr.arpa",
		"_http._tcp.example.com.":       "AAAA example.com",
		"10.0.0.7.":                     "AAAA",
		"db.":                           "AAAA",
		"com.":                          "AAAA",
		".":                             "AAAA",
		long:                            "AAAA a23456789.org",
	} {
		id, q, ok := readQuery(messageOf(t, 7, name, dnsmessage.TypeAAAA, nil))
		if got := strings.TrimSpace(string(q.appendTo(nil))); !ok || id != 7 || got != want {
			t.Errorf("%s: %d %q, %v; want %q", name, id, got, ok, want)
		}
	}
	if _, q, ok := readQuery(messageOf(t, 7, "a.org.", 4711, nil)); !ok || string(q.appendTo(nil)) != "TYPE4711 a.org" {
		t.Errorf("another type: %+v, %v", q, ok)
	}
}

// Messages that are no valid query are refused: another header, a name that is cut or has other characters, a second question.
func TestNoQuery(t *testing.T) {
	good := messageOf(t, 7, "api.example.com.", dnsmessage.TypeA, nil)
	for at, what := range map[int]byte{2: 0x81, 3: 0x01, 5: 2, 7: 1, 9: 1, 11: 3, 12: 0xc0, 13: ' ', len(good) - 1: 9} {
		b := bytes.Clone(good)
		if b[at] = what; at == 2 {
			b[at] |= 0x80
		}
		if _, _, ok := readQuery(b); ok {
			t.Errorf("it is a query with %#x at %d", what, at)
		}
	}
	for n := range len(good) {
		if _, _, ok := readQuery(good[:n]); ok {
			t.Errorf("it is a query though only %d of %d bytes are there", n, len(good))
		}
	}
}

func TestReadReply(t *testing.T) {
	for want, change := range map[string]func(m *dnsmessage.Message){
		"ok":        func(*dnsmessage.Message) {},
		"nxdomain":  func(m *dnsmessage.Message) { m.RCode = dnsmessage.RCodeNameError },
		"servfail":  func(m *dnsmessage.Message) { m.RCode = dnsmessage.RCodeServerFailure },
		"refused":   func(m *dnsmessage.Message) { m.RCode = dnsmessage.RCodeRefused },
		"failed":    func(m *dnsmessage.Message) { m.RCode = dnsmessage.RCodeNotImplemented },
		"truncated": func(m *dnsmessage.Message) { m.Truncated = true },
	} {
		b := messageOf(t, 7, "api.example.com.", dnsmessage.TypeA, func(m *dnsmessage.Message) { m.Response = true; change(m) })
		if r, ok := readReply(b); !ok || r.id != 7 || !r.asks || r.question != (question{"api.example.com", 1}) || r.resultWord() != want {
			t.Errorf("%s: %+v, %v", want, r, ok)
		}
	}
	bare := messageOf(t, 7, "a.org.", dnsmessage.TypeA, func(m *dnsmessage.Message) {
		m.Response, m.Questions, m.RCode = true, nil, dnsmessage.RCodeFormatError
	})
	if r, ok := readReply(bare); !ok || r.asks || r.resultWord() != "failed" {
		t.Errorf("without a question: %+v, %v", r, ok)
	}
	if _, ok := readReply(messageOf(t, 7, "a.org.", dnsmessage.TypeA, nil)); ok {
		t.Error("a query is an answer")
	}
}

// A query over TCP is a call with the protocol of DNS.
func TestQueryOverTCP(t *testing.T) {
	b := messageOf(t, 7, "api.example.com.", dnsmessage.TypeA, nil)
	b = append(binary.BigEndian.AppendUint16(nil, uint16(len(b))), b...)
	if got := string(appendCall(nil, b, nil, nil)); got != "dns tcp A example.com" {
		t.Errorf("it is %q", got)
	}
}

func FuzzDNS(f *testing.F) {
	f.Add(messageOf(f, 7, "user-4711.api.example.com.", dnsmessage.TypeA, nil))
	f.Add(messageOf(f, 7, "user-4711.api.example.com.", dnsmessage.TypeA, func(m *dnsmessage.Message) { m.Response = true }))
	f.Add([]byte("\x00\x1d\x00\x07\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x03api\x07example\x00\x00\x01\x00\x01"))
	f.Fuzz(func(t *testing.T, b []byte) {
		hold := func(q question, ok bool) {
			if !ok {
				return
			}
			for _, c := range q.appendTo(nil) {
				if plain := c == ' ' || c == '.' || c == '-' || c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'; !plain {
					t.Errorf("%q is written as %q", q.name, q.appendTo(nil))
				}
			}
		}
		_, q, ok := readQuery(b)
		hold(q, ok)
		r, ok := readReply(b)
		hold(r.question, ok)
		hold(askedOverTCP(b))
	})
}
