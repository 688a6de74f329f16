package phpfpm

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"time"
)

// Types of FastCGI records, and what else is used of the specification.
const (
	fcgiVersion   = 1
	fcgiBegin     = 1
	fcgiEnd       = 3
	fcgiParams    = 4
	fcgiStdin     = 5
	fcgiStdout    = 6
	fcgiResponder = 1
	requestID     = 1
	mostAnswer    = 4 << 20
)

var errAnswer = errors.New("the pool gives no status page")

// requestPage requests a page of a pool over a connection, and closes the connection.
func requestPage(c net.Conn, path, query string, deadline time.Time) ([]byte, error) {
	defer c.Close()
	if err := c.SetDeadline(deadline); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	writeRecord(&out, fcgiBegin, []byte{0, fcgiResponder, 0, 0, 0, 0, 0, 0})
	var params bytes.Buffer
	for _, p := range [][2]string{{"SCRIPT_NAME", path}, {"SCRIPT_FILENAME", path}, {"REQUEST_URI", path + "?" + query}, {"QUERY_STRING", query},
		{"REQUEST_METHOD", "GET"}, {"SERVER_PROTOCOL", "HTTP/1.1"}, {"GATEWAY_INTERFACE", "CGI/1.1"}, {"SERVER_SOFTWARE", "unstall"}, {"REMOTE_ADDR", "127.0.0.1"}} {
		params.WriteByte(byte(len(p[0]))) // of all, shorter than 128: a path that is longer is not asked for
		params.WriteByte(byte(len(p[1])))
		params.WriteString(p[0] + p[1])
	}
	writeRecord(&out, fcgiParams, params.Bytes())
	writeRecord(&out, fcgiParams, nil)
	writeRecord(&out, fcgiStdin, nil)
	if _, err := c.Write(out.Bytes()); err != nil {
		return nil, err
	}
	answer, err := readAnswer(bufio.NewReader(c))
	if err != nil {
		return nil, err
	}
	head, body, ok := strings.Cut(string(answer), "\r\n\r\n")
	if !ok || strings.Contains(head, "Status: ") { // PHP leaves it out where it is 200
		return nil, errAnswer
	}
	return []byte(body), nil
}

// longestPath is that of a path and its query whose lengths take one byte.
const longestPath = 110

func writeRecord(out *bytes.Buffer, kind byte, content []byte) {
	var head [8]byte
	head[0], head[1] = fcgiVersion, kind
	binary.BigEndian.PutUint16(head[2:], requestID)
	binary.BigEndian.PutUint16(head[4:], uint16(len(content)))
	out.Write(head[:])
	out.Write(content)
}

// readAnswer reads what comes on stdout until the request ends.
func readAnswer(in *bufio.Reader) (out []byte, err error) {
	var head [8]byte
	for {
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return nil, err
		}
		n, padding := int(binary.BigEndian.Uint16(head[4:])), int(head[6])
		switch head[1] {
		case fcgiEnd:
			return out, nil
		case fcgiStdout:
			if len(out)+n > mostAnswer {
				return nil, errAnswer
			}
			at := len(out)
			out = append(out, make([]byte, n)...)
			if _, err := io.ReadFull(in, out[at:]); err != nil {
				return nil, err
			}
			n = 0
		}
		if _, err := in.Discard(n + padding); err != nil {
			return nil, err
		}
	}
}
