package service

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"
)

// accessLog writes one line for each request at its completion. Lines are
// buffered and reach the file at the latest a quarter of a second later.
type accessLog struct {
	line func([]byte, *http.Request, *answer, time.Time, time.Time) []byte

	mu   sync.Mutex
	file *os.File
	out  *bufio.Writer
}

var accessLogLines = map[string]func([]byte, *http.Request, *answer, time.Time, time.Time) []byte{
	"caddy": caddyLine,
	"nginx": nginxLine,
}

func openAccessLog(path, format string) (*accessLog, error) {
	line := accessLogLines[format]
	if line == nil {
		return nil, fmt.Errorf("-access-log-format %s: not a format; use caddy or nginx", format)
	}
	if path == "" {
		return nil, nil
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	l := &accessLog{line: line, file: file, out: bufio.NewWriterSize(file, 64<<10)}
	go func() {
		for range time.Tick(250 * time.Millisecond) {
			l.mu.Lock()
			l.out.Flush()
			l.mu.Unlock()
		}
	}()
	return l, nil
}

func (l *accessLog) addLine(r *http.Request, a *answer, start, end time.Time) {
	if l == nil {
		return
	}
	line := l.line(make([]byte, 0, 320), r, a, start, end)
	l.mu.Lock()
	l.out.Write(line)
	l.mu.Unlock()
}

func (l *accessLog) close() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.out.Flush(); err != nil {
		return err
	}
	return l.file.Close()
}

// caddyLine appends a line of Caddy's default access log: ts is the completion in seconds since
// the epoch, duration is in seconds.
// https://caddyserver.com/docs/logging
func caddyLine(b []byte, r *http.Request, a *answer, start, end time.Time) []byte {
	host, port, _ := net.SplitHostPort(r.RemoteAddr)
	b = append(b, `{"level":"info","ts":`...)
	b = strconv.AppendFloat(b, float64(end.UnixMicro())/1e6, 'f', 6, 64)
	b = append(b, `,"logger":"http.log.access","msg":"handled request","request":{"remote_ip":`...)
	b = strconv.AppendQuote(b, host)
	b = append(b, `,"remote_port":`...)
	b = strconv.AppendQuote(b, port)
	b = append(b, `,"proto":`...)
	b = strconv.AppendQuote(b, r.Proto)
	b = append(b, `,"method":`...)
	b = strconv.AppendQuote(b, r.Method)
	b = append(b, `,"host":`...)
	b = strconv.AppendQuote(b, r.Host)
	b = append(b, `,"uri":`...)
	b = strconv.AppendQuote(b, r.RequestURI)
	b = append(b, `},"bytes_read":0,"user_id":"","duration":`...)
	b = strconv.AppendFloat(b, end.Sub(start).Seconds(), 'f', 9, 64)
	b = append(b, `,"size":`...)
	b = strconv.AppendInt(b, int64(a.bytes), 10)
	b = append(b, `,"status":`...)
	b = strconv.AppendInt(b, int64(a.status), 10)
	return append(b, "}\n"...)
}

// nginxLine appends a line of nginx' combined format followed by $request_time, which is in
// seconds with a resolution of a millisecond.
// https://nginx.org/en/docs/http/ngx_http_log_module.html
func nginxLine(b []byte, r *http.Request, a *answer, start, end time.Time) []byte {
	host, _, _ := net.SplitHostPort(r.RemoteAddr)
	b = append(append(b, host...), " - - ["...)
	b = end.AppendFormat(b, "02/Jan/2006:15:04:05 -0700")
	b = append(b, `] "`...)
	b = append(append(append(append(append(b, r.Method...), ' '), r.RequestURI...), ' '), r.Proto...)
	b = append(b, `" `...)
	b = append(strconv.AppendInt(b, int64(a.status), 10), ' ')
	b = strconv.AppendInt(b, int64(a.bytes), 10)
	b = append(b, ` "-" "`...)
	b = append(append(b, r.UserAgent()...), `" `...)
	b = strconv.AppendFloat(b, end.Sub(start).Seconds(), 'f', 3, 64)
	return append(b, '\n')
}
