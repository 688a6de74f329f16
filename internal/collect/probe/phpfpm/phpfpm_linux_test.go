package phpfpm

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/phpfpm"
)

// Pools in included files, below the folder of the configuration as FPM was built for it; nothing that may be
// secret is kept.
func TestConfigured(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"usr/local/etc/php-fpm.conf":      "[global]\npid = run/php-fpm.pid\ninclude=etc/php-fpm.d/*.conf\n",
		"usr/local/etc/php-fpm.d/a.conf":  "; a comment\n[www]\nlisten = /run/$pool.sock ; where\npm.max_children=5\nenv[SECRET] = hunter2\n",
		"usr/local/etc/php-fpm.d/zz.conf": "[www]\npm.status_path = \"/status\"\n[api]\nlisten = 9001\n",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	pools, err := readConfiguration(root, "/usr/local/etc/php-fpm.conf")
	if err != nil {
		t.Fatal(err)
	}
	const want = `[www]
unstall.file = /usr/local/etc/php-fpm.d/zz.conf
listen = /run/$pool.sock
pm.max_children = 5
pm.status_path = /status
[api]
unstall.file = /usr/local/etc/php-fpm.d/zz.conf
listen = 9001
`
	if got := string(formatPools(pools)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := pools[0].findSetting("listen"); got != "/run/www.sock" {
		t.Errorf("listens at %q", got)
	}
	if phpfpm.Config.Match(formatPools(pools)) != format.Sure {
		t.Error("the format does not know what is recorded")
	}
	if _, err := readConfiguration(root, "/nowhere.conf"); err == nil {
		t.Error("a configuration that is not there")
	}
}

const page = `{"pool":"www","process manager":"static","active processes":1,"total processes":2}`

// responder answers one FastCGI request with a page, in pieces, and tells the parameters it got.
func responder(t *testing.T, l net.Listener, head string, got chan<- string) {
	c, err := l.Accept()
	if err != nil {
		return
	}
	defer c.Close()
	in := bufio.NewReader(c)
	var params []byte
	for {
		var h [8]byte
		if _, err := io.ReadFull(in, h[:]); err != nil {
			t.Error(err)
			return
		}
		content := make([]byte, binary.BigEndian.Uint16(h[4:]))
		if _, err := io.ReadFull(in, content); err != nil {
			t.Error(err)
			return
		}
		if h[1] == fcgiParams {
			params = append(params, content...)
		}
		if h[1] == fcgiStdin && len(content) == 0 {
			break
		}
	}
	got <- string(params)
	var out bytes.Buffer
	writeRecord(&out, 7, []byte("a warning")) // FCGI_STDERR
	answer := head + "\r\n\r\n" + page
	writeRecord(&out, fcgiStdout, []byte(answer[:20]))
	writeRecord(&out, fcgiStdout, []byte(answer[20:]))
	writeRecord(&out, fcgiEnd, make([]byte, 8))
	_, _ = c.Write(out.Bytes())
}

func TestAsk(t *testing.T) {
	for head, want := range map[string]string{
		"Content-type: application/json": page,
		"Status: 404 Not Found":          "",
	} {
		l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		got := make(chan string, 1)
		go responder(t, l, head, got)
		c, err := net.Dial("unix", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		answer, err := requestPage(c, "/status", "json", time.Now().Add(10*time.Second))
		if string(answer) != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v", head, answer, err)
		}
		if params := <-got; !strings.Contains(params, "\x0c\x04QUERY_STRINGjson") || !strings.Contains(params, "SCRIPT_NAME/status") {
			t.Errorf("asked with %q", params)
		}
	}
}

// Connections that nobody accepts wait at the socket, and the kernel tells how many.
func TestBacklogs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	r := recorder{target: discover.Target{PID: os.Getpid()}, ownNet: true}
	for want := range 3 {
		n, ok := r.countWaiting(path)
		if !ok {
			if _, err := listBacklogs(); err != nil {
				t.Skipf("this kernel does not tell: %v", err)
			}
		}
		if !ok || n != want {
			t.Errorf("%d wait, %v, want %d", n, ok, want)
		}
		c, err := r.dialPool(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
}
