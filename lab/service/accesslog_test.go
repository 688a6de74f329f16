package service

import (
	"net/http/httptest"
	"testing"
	"time"
)

func TestAccessLogLines(t *testing.T) {
	r := httptest.NewRequest("GET", `/item/7?q=a`, nil)
	r.RemoteAddr, r.Host = "127.0.0.1:4711", "gateway:80"
	r.Header.Set("User-Agent", "unstall-lab")
	end := time.Date(2026, 11, 21, 2, 5, 9, 123456789, time.UTC)
	for format, want := range map[string]string{
		"caddy": `{"level":"info","ts":1795226709.123456,"logger":"http.log.access","msg":"handled request","request":{"remote_ip":"127.0.0.1","remote_port":"4711","proto":"HTTP/1.1","method":"GET","host":"gateway:80","uri":"/item/7?q=a"},"bytes_read":0,"user_id":"","duration":0.002500000,"size":12,"status":404}` + "\n",
		"nginx": `127.0.0.1 - - [21/Nov/2026:02:05:09 +0000] "GET /item/7?q=a HTTP/1.1" 404 12 "-" "unstall-lab" 0.003` + "\n",
	} {
		got := string(accessLogLines[format](nil, r, &answer{status: 404, bytes: 12}, end.Add(-2500*time.Microsecond), end))
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", format, got, want)
		}
	}
}
