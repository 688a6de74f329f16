package resp

import (
	"errors"
	"net"
	"testing"
	"time"
)

func TestGet(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go Serve(l, func(key string) []byte { return []byte("<" + key + ">") }, func(time.Duration) {})
	c := Client{Addr: l.Addr().String()}
	for _, key := range []string{"a", "", "session:t0000001"} {
		got, err := c.Get(key)
		if err != nil || string(got) != "<"+key+">" {
			t.Errorf("%q: got %q, %v", key, got, err)
		}
	}
	if len(c.free) != 1 {
		t.Errorf("three calls in turn opened %d connections", len(c.free))
	}
}

func TestNotAnAnswer(t *testing.T) {
	for _, said := range []string{"+OK\r\n", "$-1\r\n", "$99999999\r\n", "$\r\n", "\n"} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		go func() {
			if conn, err := l.Accept(); err == nil {
				conn.Write([]byte(said))
			}
		}()
		c := Client{Addr: l.Addr().String()}
		if got, err := c.Get("a"); !errors.Is(err, errProtocol) {
			t.Errorf("%q: got %q, %v", said, got, err)
		}
	}
}
