package redis

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// said is a server that sends text, whatever is asked, after it has read a request.
func said(t *testing.T, text string) *client {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Read(make([]byte, 1<<12))
			_, _ = io.WriteString(c, text)
			_, _ = io.Copy(io.Discard, c) // until the other closes
			_ = c.Close()
		}
	}()
	c := &client{place: &place{address: l.Addr().String()}}
	t.Cleanup(func() { c.Close() })
	return c
}

func TestAnswers(t *testing.T) {
	for text, want := range map[string]string{
		"+OK\r\n":           "OK",
		":-7\r\n":           "-7",
		"$5\r\na\r\nbc\r\n": "a\r\nbc",
		"$0\r\n\r\n":        "",
		"$-1\r\n":           "<nil>",
		"*-1\r\n":           "<nil>",
		"*3\r\n:1\r\n*2\r\n+a\r\n-ERR b\r\n$-1\r\n": "[1 [a ERR b] <nil>]",
		"-NOAUTH x\r\n":                           "refused: NOAUTH x",
		"HTTP/1.1 400 Bad Request\r\n":            errOther.Error(),
		"+no end\n":                               errOther.Error(),
		"$x\r\n":                                  errOther.Error(),
		"$99999999999\r\n":                        errOther.Error(),
		"*99999999999\r\n":                        errOther.Error(),
		"$2\r\nabcd\r\n":                          errOther.Error(),
		strings.Repeat("*1\r\n", 20):              errOther.Error(),
		"+" + strings.Repeat("a", 1<<17) + "\r\n": errOther.Error(),
	} {
		c := said(t, "+OK\r\n"+text)
		v, err := c.Do(t.Context(), "INFO", "server", 7)
		got := fmt.Sprint(v)
		switch {
		case isAnswer(err):
			got = "refused: " + err.Error()
		case err != nil:
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %s, not %s", text[:min(len(text), 60)], got, want)
		}
		if err != nil && !isAnswer(err) && c.conn != nil {
			t.Errorf("%q: the connection is kept", text[:min(len(text), 60)])
		}
	}
}

// TestWaiting gives up when its context does.
func TestWaiting(t *testing.T) {
	c := said(t, "+OK\r\n$9\r\nabc")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	var timeout net.Error
	if _, err := c.Do(ctx, "PING"); !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Error(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, stop)
	if _, err := c.Do(ctx, "PING"); err == nil {
		t.Error("it answered")
	}
}

// TestPassword is asked for and given before anything else.
func TestPassword(t *testing.T) {
	c := said(t, "-WRONGPASS no\r\n+OK\r\n")
	c.place.user, c.place.secret = "somebody", "hunter2"
	if _, err := c.Do(t.Context(), "PING"); !isAnswer(err) || !strings.HasPrefix(err.Error(), "WRONGPASS") || c.conn != nil {
		t.Error(err)
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add("*2\r\n$1\r\na\r\n:5\r\n")
	f.Add("-ERR\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		in := bufio.NewReaderSize(strings.NewReader(text), 1<<16)
		for {
			if _, err := readAnswer(in, deepest); err != nil {
				return
			}
		}
	})
}
