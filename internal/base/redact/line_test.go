package redact

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

const (
	webToken = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
	awsKey   = "AKIAIOSFODNN7EXAMPLE" // of AWS' documentation
)

// An empty want: the line stays as it is.
var lines = []struct{ in, want string }{
	// Queries.
	{`1.2.3.4 - - [10/Oct/2026:13:55:36 +0200] "GET /a?token=s3cr3t&x=1 HTTP/1.1" 200 512 0.004`,
		`1.2.3.4 - - [10/Oct/2026:13:55:36 +0200] "GET /a?token=[redacted]&x=[redacted] HTTP/1.1" 200 512 0.004`},
	{`GET /a?x=1&key=abc&sig=d%2Fe%3D&code=4/0Ab&auth=q&session=1#top 200`,
		`GET /a?x=[redacted]&key=[redacted]&sig=[redacted]&code=[redacted]&auth=[redacted]&session=[redacted] 200`},
	{`GET /a?code=404&page=2&wsdl`, `GET /a?code=[redacted]&page=[redacted]&wsdl`},
	{`/cb?to=https%3A%2F%2Fx%3Ftoken%3Dabc%26y%3D1 200`, `/cb?to=[redacted] 200`},
	{`{"uri":"/p?a=1\u0026key=abcdef\u0026b=2","ms":3}`, `{"uri":"/p?a=[redacted]\u0026key=[redacted]\u0026b=[redacted]","ms":3}`},
	{`<a href="?a=1&amp;apikey=x">`, `<a href="?a=[redacted]&amp;apikey=[redacted]">`},
	{`GET /p;jsessionid=0A1B2C?x=1`, `GET /p;jsessionid=[redacted]?x=1`},
	{`X-Amz-Credential=AKIA/2026/eu&X-Amz-Signature=fe5f&X-Amz-Expires=300`, `X-Amz-Credential=[redacted]&X-Amz-Signature=[redacted]&X-Amz-Expires=[redacted]`},
	// Headers.
	{`Authorization: Bearer abc.def-1`, `Authorization: Bearer [redacted]`},
	{`authorization: Basic dXNlcjpwYXNz x=1`, `authorization: Basic [redacted] x=1`},
	{`Authorization: Digest username="bob", response="6629"`, `Authorization: Digest [redacted]`},
	{`Authorization: s3cr3t`, `Authorization: [redacted]`},
	{`Authorization: Odd 0123456789abcdef0 done`, `Authorization: [redacted] done`},
	{`Authorization: AWS4-HMAC-SHA256 Credential=AKI/x, SignedHeaders=host, Signature=ab`, `Authorization: AWS4-HMAC-SHA256 Credential=[redacted], SignedHeaders=host, Signature=[redacted]`},
	{`curl -H "X-Api-Key: abc" -H 'Cookie: a=b; c=d' http://x`, `curl -H "X-Api-Key: [redacted]" -H 'Cookie: [redacted]' http://x`},
	{`map[Authorization:[Bearer abc] Accept:[*/*] Cookie:[a=b; c=d]]`, `map[Authorization:[[redacted] [redacted]] Accept:[*/*] Cookie:[[redacted] [redacted]]]`},
	{`sent Bearer abcdefgh1 and Basic dXNlcjpwYXNz`, `sent Bearer [redacted] and Basic [redacted]`},
	{`Bearer authentication failed, Basic information`, ``},
	// JSON, and JSON in JSON.
	{`{"token":"a\"b","n":1}`, `{"token":"[redacted]","n":1}`},
	{`{"password" : "x", "user":"bob"}`, `{"password" : "[redacted]", "user":"bob"}`},
	{`{"password":1234,"status":200}`, `{"password":"[redacted]","status":200}`},
	{`{"password":null,"token":"","has_secret":true}`, ``},
	{`{"log":"{\"apiKey\":\"x\\\"y\",\"ms\":3}\n","stream":"stdout"}`, `{"log":"{\"apiKey\":\"[redacted]\",\"ms\":3}\n","stream":"stdout"}`},
	{`{"headers":{"Authorization":["Bearer x","y"],"Accept":["z"]}}`, `{"headers":{"Authorization":["[redacted]","[redacted]"],"Accept":["z"]}}`},
	{`{'secret': 'x', 'a': 'b'}`, `{'secret': '[redacted]', 'a': 'b'}`},
	{`{"key":"http.route","value":{"stringValue":"/play"}}`, ""},
	{`{"key":"db.system","type":"string","value":"mysql"}`, ""},
	{`{"key":"http.request.header.authorization","value":{"stringValue":"Bearer x.y"}}`, `{"key":"http.request.header.authorization","value":{"stringValue":"[redacted]"}}`},
	{`{"key":"a password=hunter2 b","value":"c"}`, `{"key":"a password=[redacted] b","value":"c"}`},
	{`{"key":"a password=hunter2 x-token","value":"c"}`, `{"key":"a password=[redacted] x-token","value":"[redacted]"}`},
	{`{"key":"x-token","value" password=hunter2 :"c"}`, `{"key":"x-token","value" password=[redacted] :"[redacted]"}`},
	{`{"session":"abc","key":"k","code":"OK"}`, `{"session":"[redacted]","key":"[redacted]","code":"OK"}`},
	{`{"token":"cut in the mid`, `{"token":"[redacted]`},
	{`{"token":{"value":1},"tokens":512,"token_count":3,"max_tokens":1}`, ``},
	// Names and values.
	{`level=info password=hunter2 took=3ms`, `level=info password=[redacted] took=3ms`},
	{`level=info db_password="a b" took=3ms`, `level=info db_password="[redacted]" took=3ms`},
	{`password = hunter2`, `password = [redacted]`},
	{`Server=x;Password=a,b;c=1`, `Server=x;Password=[redacted];c=1`},
	{`{user=x, password=y, z=1}`, `{user=x, password=[redacted], z=1}`},
	{`session=0a1b2c3d4e code=DeadlineExceeded key=7 auth=ok pwd=/srv/app/current`, `session=[redacted] code=DeadlineExceeded key=7 auth=ok pwd=/srv/app/current`},
	{`status=200 code=200 grpc.code=OK tokens=512 time=12:30:00`, ``},
	{`--db-password hunter2 --verbose`, `--db-password [redacted] --verbose`},
	{`refresh-token: took=12ms`, ``},
	{`mscorlib, Version=4.0.0.0, Culture=neutral, PublicKeyToken=b77a5c561934e089`, ``},
	// Places.
	{`dial redis://:pass@cache:6379/0 failed`, `dial redis://:[redacted]@cache:6379/0 failed`},
	{`postgres://bob:p@ss@db:5432/x?sslmode=off`, `postgres://bob:[redacted]@db:5432/x?sslmode=[redacted]`},
	{`redis://:pa/ss@db`, `redis://:[redacted]@db`},
	{`https://0123456789abcdef0123@git.example/x`, `https://[redacted]@git.example/x`},
	{`http://[::1]:8080/a@b ssh://git@host/x http://h:80/@me`, ``},
	{`bob:hunter2@tcp(db:3306)/x`, `bob:[redacted]@tcp(db:3306)/x`},
	// Looks.
	{`got ` + webToken + `.`, `got [redacted]`},
	{`key ` + awsKey + ` used`, `key [redacted] used`},
	{`ghp_0123456789abcdefghij0123456789abcdef and xoxb-12345-67890-abc`, `[redacted] and [redacted]`},
	{`x AKIAshort eyJ.a.b ghp_x`, ``},
	{`{"pem":"-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\n"}`, `{"pem":"-----BEGIN RSA PRIVATE KEY-----[redacted]-----END RSA PRIVATE KEY-----\n"}`},
	{``, ``}, {`=`, ``}, {`:`, ``}, {`password=`, ``}, {`token:`, ``}, {`://`, ``}, {`"token":`, ``}, {`--token `, ``},
}

func TestLine(t *testing.T) {
	for _, c := range lines {
		in := []byte(c.in)
		got := Line(in)
		want := c.want
		if want == "" {
			want = c.in
		}
		if string(got) != want {
			t.Errorf("%s\n got %s\nwant %s", c.in, got, want)
		}
		if string(in) != c.in {
			t.Errorf("%s: the input was changed", c.in)
		}
		if again := Line(got); string(again) != string(got) {
			t.Errorf("%s\nonce  %s\ntwice %s", c.in, got, again)
		}
		if c.want == "" && len(in) > 0 && &got[0] != &in[0] {
			t.Errorf("%s: was copied", c.in)
		}
	}
}

// What the formats' own tests read has no secrets, and must come through.
func TestOrdinaryLinesStay(t *testing.T) {
	files, err := filepath.Glob("../../format/*/testdata/*.txtar")
	if err != nil || len(files) < 40 {
		t.Fatal(len(files), err)
	}
	n := 0
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range txtar.Parse(b).Files {
			for line := range bytes.Lines(f.Data) {
				if bytes.Contains(line, []byte("jsessionid=")) || bytes.Contains(line, []byte("--password=")) || bytes.Contains(line, []byte(".secret=")) || bytes.Contains(line, []byte(`},"key":"`)) ||
					bytes.Contains(line, []byte("?")) && bytes.Contains(line, []byte("=")) || bytes.Contains(line, []byte("mail to ")) ||
					bytes.Contains(line, []byte("@sema.goc")) || bytes.Contains(line, []byte(":targetgroup/")) { // the id of a load balancer // which are secrets, or cannot be told from one
					continue
				}
				n++
				if got := Line(line); string(got) != string(line) {
					t.Errorf("%s:\n%s", name, cmp.Diff(string(line), string(got)))
				}
			}
		}
	}
	t.Log(n, "lines")
}

func TestText(t *testing.T) {
	const in = `before
-----BEGIN EC PRIVATE KEY-----
MHcCAQEEIIrYSSNQFaA2Hwf1duRSxKtLYX5CB04fSeQ6tF1aY/PuoAoGCCqGSM49
GET /x 200 0.003
AwEHoUQDQgAEPR3tU2Fta9ktY+6P9G0cWO+0kETA6SFs38GecTyudlHz6xvCdz8q
true
-----END EC PRIVATE KEY-----
-----BEGIN CERTIFICATE-----
MIIBhTCCASugAwIBAgIQIRi6zePL6mKjOipn+dNuaTAKBggqhkjOPQQDAjASMRAw
-----END CERTIFICATE-----
{"log":"-----BEGIN PRIVATE KEY-----\n"}
{"log":"MHcCAQEEIIrYSSNQFaA2Hwf1duRSxKtLYX5CB04fSeQ6tF1aY/PuoAoGCCqGSM49\n"}
{"log":"-----END PRIVATE KEY-----\n"}
/usr/lib/jvm/java/lib/server/libjvm
`
	const want = `before
-----BEGIN EC PRIVATE KEY-----
[redacted]
GET /x 200 0.003
[redacted]
[redacted]
-----END EC PRIVATE KEY-----
-----BEGIN CERTIFICATE-----
MIIBhTCCASugAwIBAgIQIRi6zePL6mKjOipn+dNuaTAKBggqhkjOPQQDAjASMRAw
-----END CERTIFICATE-----
{"log":"-----BEGIN PRIVATE KEY-----\n"}
{"log":"[redacted]\n"}
{"log":"-----END PRIVATE KEY-----\n"}
/usr/lib/jvm/java/lib/server/libjvm
`
	var x Text
	var got strings.Builder
	for line := range strings.Lines(in) {
		got.Write(x.Line([]byte(line)))
	}
	if d := cmp.Diff(want, got.String()); d != "" {
		t.Error(d)
	}
}

func FuzzLine(f *testing.F) {
	for _, c := range lines {
		f.Add([]byte(c.in), []byte(" end"))
	}
	f.Add([]byte(`{"key":"a`), []byte(`","value":"c"}`)) // within an attribute
	f.Add([]byte(`{"key":"a`), []byte(`x-token","value":"c"}`))
	f.Add([]byte(`{"key":"x-token",`), []byte(`"value":"c"}`))
	f.Add([]byte(`{"key":"x-token","value"`), []byte(`:"c"}`))
	const secret = "hUnTeR2xYz"
	f.Fuzz(func(t *testing.T, before, after []byte) {
		if bytes.Contains(before, []byte(secret)) || bytes.Contains(after, []byte(secret)) {
			return
		}
		var x Text
		for _, hidden := range []string{" password=" + secret + " ", ` "token":"` + secret + `" `, " http://u:" + secret + "@h/ "} {
			in := string(before) + hidden + string(after)
			out := Line([]byte(in))
			if bytes.Contains(out, []byte(secret)) {
				t.Fatalf("%q became %q", in, out)
			}
			if bytes.Count(out, []byte("\n")) > strings.Count(in, "\n") || len(out) > len(in)*len(Mark)+len(Mark) {
				t.Fatalf("%q grew into %q", in, out)
			}
			x.Line([]byte(in))
		}
		Args([]string{"x", string(before), string(after)})
		Env([]string{"GOGC=" + string(before)})
	})
}

func BenchmarkLine(b *testing.B) {
	for _, c := range []struct{ name, line string }{
		{"plain", `203.0.113.9 - - [10/Oct/2026:13:55:36 +0200] "GET /play/1001?x=1 HTTP/1.1" 200 512 "-" "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36"`},
		{"json", `{"time":"2026-10-10T13:55:36.25Z","level":"info","method":"GET","path":"/play/1001","status":200,"duration_ms":3.25,"bytes":512,"remote":"203.0.113.9"}`},
		{"secret", `203.0.113.9 - - [10/Oct/2026:13:55:36 +0200] "GET /play/1001?token=abcdef HTTP/1.1" 200 512 "-" "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36"`},
	} {
		b.Run(c.name, func(b *testing.B) {
			line := []byte(c.line)
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				Line(line)
			}
		})
	}
}

// Counters of ours stay, whatever their digits; a number that stands for itself goes.
func TestOwnFigures(t *testing.T) {
	for in, want := range map[string]string{
		"fault 4012 8888 8888 1881 12":               "fault 4012 8888 8888 1881 12",
		"4111111111111111 12 3456 7 1":               "4111111111111111 12 3456 7 1",
		"card 4012 8888 8888 1881":                   "card " + Mark,
		"note 4111111111111111 from bob 1 2 3 4 5 6": "note " + Mark + " from bob 1 2 3 4 5 6",
	} {
		if got := string(Own([]byte(in))); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
