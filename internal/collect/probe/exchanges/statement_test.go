package exchanges

import (
	"encoding/binary"
	"strings"
	"testing"
)

// Of a statement its verb and its table are kept, and nothing that stands for a person or a thing.
func TestStatementOf(t *testing.T) {
	for text, want := range map[string]string{
		"select total_cents from orders where id = 4711":      "SELECT orders",
		"SELECT * FROM public.stock WHERE id = $1 FOR UPDATE": "SELECT public.stock FOR UPDATE",
		"/* user=alice */ UPDATE \"stock\" SET left_over = 1": "UPDATE stock",
		"-- alice\nupdate only stock set n = 1":               "UPDATE stock",
		"INSERT INTO `payments`(id) VALUES (1)":               "INSERT payments",
		"delete from carts where owner = 'alice'":             "DELETE carts",
		"select 'it''s from alice' from orders ":              "SELECT",
		`select 'a\' from alice ' from orders `:               "SELECT",
		"select count(*) from (select 1 from orders) x ":      "SELECT",
		"start transaction isolation level serializable":      "BEGIN",
		"commit":                         "COMMIT",
		"call  pay(4711)":                "CALL pay",
		"set application_name = 'alice'": "SET",
		"alice":                          "",
		"":                               "",
		"select * from $1 ":              "SELECT",
		"truncate table carts ":          "TRUNCATE carts",
		"select \"alice from":            "SELECT",
		"update " + strings.Repeat("long", 30) + " set a = 1": "UPDATE",
	} {
		if got := statementOf([]byte(text), true).String(); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
	if got := statementOf([]byte("select a from order"), false).String(); got != "SELECT" {
		t.Errorf("a table whose name may be cut is %q", got)
	}
}

// pg is a message of PostgreSQL's protocol.
func pg(kind byte, body string) string {
	return string(binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(body)+4))) + body
}

// my is a packet of MySQL's protocol.
func my(number byte, body string) string {
	return string([]byte{byte(len(body)), byte(len(body) >> 8), 0, number}) + body
}

func TestAppendCall(t *testing.T) {
	prepared := func(text string) string {
		return pg('P', "\x00"+text+"\x00\x00\x00") + pg('B', strings.Repeat("\x00", 8)) + pg('E', "\x00\x00\x00\x00\x00")
	}
	for _, x := range []struct{ name, head, answer, want string }{
		{"a query", pg('Q', "select 1 from orders where id = 4711\x00"), pg('C', "SELECT 1\x00") + pg('Z', "I"), "postgresql idle SELECT orders"},
		{"begin", pg('Q', "begin\x00"), pg('C', "BEGIN\x00") + pg('Z', "T"), "postgresql open BEGIN"},
		{"begin with what follows", prepared("BEGIN") + prepared("update stock set n = $1"), pg('1', "") + pg('2', "") + pg('C', "BEGIN\x00") + pg('1', "") + pg('2', "") + pg('C', "UPDATE 1\x00") + pg('Z', "T"), "postgresql open UPDATE stock"},
		{"what has a name on the server", pg('B', "\x00S_7\x00\x00\x00\x00\x00\x00\x00") + pg('E', "\x00\x00\x00\x00\x00") + pg('S', ""), pg('2', "") + pg('C', "COMMIT\x00") + pg('Z', "I"), "postgresql idle COMMIT"},
		{"only prepared", pg('P', "a\x00update stock set n = $1\x00\x00\x00") + pg('S', ""), pg('1', "") + pg('Z', "T"), "postgresql open PREPARE UPDATE stock"},
		{"an error", pg('Q', "select 1 from orders \x00"), pg('E', "SERROR\x00C42P01\x00Malice\x00\x00") + pg('Z', "I"), "postgresql failed SELECT orders"},
		{"an error in a transaction", pg('Q', "select 1 from orders \x00"), pg('E', "SERROR\x00\x00") + pg('Z', "E"), "postgresql failed SELECT orders"},
		{"an answer that goes on", pg('Q', "select 1 from orders \x00"), pg('D', "alice"), "postgresql - SELECT orders"},
		{"no answer", pg('Q', "select 1 from orders \x00"), "", "postgresql - SELECT orders"},
		{"OK", my(0, "\x03update stock set n = 1"), my(1, "\x00\x01\x00\x01\x00\x00\x00"), "mysql open UPDATE stock"},
		{"commit", my(0, "\x03COMMIT"), my(1, "\x00\x00\x00\x02\x00\x00\x00"), "mysql idle COMMIT"},
		{"rows", my(0, "\x03select a from orders where id = 4711"), my(1, "\x01") + my(2, "def") + my(3, "\xfe\x00\x00\x22\x00") + my(4, "\x05alice") + my(5, "\xfe\x00\x00\x23\x00"), "mysql open SELECT orders"},
		{"rows, ended by OK", my(0, "\x03\x00\x01select a from orders \x00"), my(1, "\x01") + my(2, "def") + my(4, "\x05alice") + my(5, "\xfe\x00\x00\x02\x00\x00\x00"), "mysql idle SELECT orders"},
		{"prepared before", my(0, "\x17\x01\x00\x00\x00\x00\x01\x00\x00\x00"), my(1, "\x00\x01\x00\x03\x00\x00\x00"), "mysql open EXECUTE"},
		{"an error of MySQL", my(0, "\x03update stock set n = 1"), my(1, "\xff\xbd\x04#40001alice"), "mysql failed UPDATE stock"},
		{"Redis", "*2\r\n$3\r\nget\r\n$5\r\nalice\r\n", "$1\r\na\r\n", "resp - GET"},
		{"an error of Redis", "*2\r\n$3\r\nGET\r\n$5\r\nalice\r\n", "-WRONGTYPE", "resp failed GET"},
		{"HTTP", "GET /quote/4711?who=alice HTTP/1.1\r\n", "HTTP/1.1 503 Service Unavailable\r\n", "http 503 GET /quote/{id}"},
		{"HTTP without an answer", "POST /charge HTTP/1.1\r\n", "", "http 0 POST /charge"},
		{"encrypted", "\x17\x03\x03\x00\x40alice", "\x17\x03\x03\x00\x40alice", "tls"},
	} {
		head, tail := []byte(x.head), []byte(x.answer)
		answer := tail[:min(len(tail), answerLen)]
		head, tail = head[:min(len(head), 128)], tail[max(0, len(tail)-32):]
		if got := string(appendCall(nil, head, answer, tail)); got != x.want {
			t.Errorf("%s: %q, want %q", x.name, got, x.want)
		}
	}
}

// answerLen is how much of an answer's beginning is kept.
const answerLen = 16

// FuzzCall holds that whatever is sent and answered, what is written has no more words than a line of a call has.
func FuzzCall(f *testing.F) {
	f.Add([]byte(pg('Q', "select 1 from orders\x00")), []byte(pg('C', "SELECT 1\x00")+pg('Z', "I")))
	f.Add([]byte(my(0, "\x03update `stock` set n = 1")), []byte(my(1, "\x00\x01\x00\x01\x00\x00\x00")))
	f.Add([]byte("*2\r\n$3\r\nGET\r\n$1\r\na\r\n"), []byte("-ERR"))
	f.Add([]byte("GET / HTTP/1.1\r\n"), []byte("HTTP/1.1 200"))
	f.Fuzz(func(t *testing.T, head, answer []byte) {
		out := appendCall(nil, head, answer[:min(len(answer), answerLen)], answer[max(0, len(answer)-32):])
		if strings.ContainsAny(string(out), "\n\r\x00") || len(out) > 400 {
			t.Errorf("%q of %q", out, head)
		}
	})
}
