package load

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// answer is what is kept of a response.
type answer struct {
	status int
	bytes  int64 // head and body
	close  bool  // the connection cannot be used again
}

// errNotHTTP is wrapped by errors for answers that are not HTTP.
var errNotHTTP = errors.New("the answer is not HTTP")

// responses reads responses one after the other and throws their bodies away
// (RFC 9112). Memory is bounded by the largest head it takes.
type responses struct {
	r        io.Reader
	buf      []byte
	from, to int // what was read and not used
	read     int64
}

const maxHead = 256 << 10

func newResponses(r io.Reader) *responses { return &responses{r: r, buf: make([]byte, 4<<10)} }

// fill reads more behind what there is.
func (p *responses) fill() error {
	if p.from == p.to {
		p.from, p.to = 0, 0
	} else if p.to == len(p.buf) {
		if p.from > 0 {
			p.to = copy(p.buf, p.buf[p.from:p.to])
			p.from = 0
		} else {
			if len(p.buf) >= maxHead {
				return fmt.Errorf("%w: its header is longer than %d KiB", errNotHTTP, maxHead>>10)
			}
			p.buf = append(p.buf, make([]byte, len(p.buf))...)
		}
	}
	n, err := p.r.Read(p.buf[p.to:])
	p.to += n
	p.read += int64(n)
	if n > 0 {
		return nil
	}
	if err == nil {
		err = io.ErrNoProgress
	}
	return err
}

// next reads one response, to a request of a method, past interim ones.
func (p *responses) next(head bool) (answer, error) {
	start := p.read - int64(p.to-p.from)
	for {
		h, err := p.head()
		if err != nil {
			return answer{}, err
		}
		a := answer{status: h.status, close: h.close}
		switch {
		case h.status == http.StatusSwitchingProtocols:
			return a, fmt.Errorf("%w: it switched to another protocol", errNotHTTP)
		case h.status < 200:
			continue
		case head || h.status == http.StatusNoContent || h.status == http.StatusNotModified:
		case h.chunked:
			err = p.chunks()
		case h.length >= 0:
			err = p.skip(h.length)
		default: // until the end of the connection
			a.close = true
			for err = nil; err == nil; err = p.fill() {
				p.from = p.to
			}
			if err == io.EOF {
				err = nil
			}
		}
		a.bytes = p.read - int64(p.to-p.from) - start
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return a, err
	}
}

type responseHead struct {
	status         int
	length         int64 // < 0 not said
	chunked, close bool
}

var headEnd = []byte("\r\n\r\n")

// head reads a status line and the headers that say where the body ends.
func (p *responses) head() (responseHead, error) {
	seen := 0
	for {
		in := p.buf[p.from:p.to]
		if i := bytes.Index(in[seen:], headEnd); i >= 0 {
			end := seen + i
			p.from += end + len(headEnd)
			return parseHead(in[:end])
		}
		if len(in) >= 5 && string(in[:5]) != "HTTP/" {
			return responseHead{}, fmt.Errorf("%w: it begins with %s", errNotHTTP, shown(in))
		}
		seen = max(0, len(in)-len(headEnd)+1)
		if err := p.fill(); err != nil {
			if err == io.EOF && p.to > p.from {
				if in = p.buf[p.from:p.to]; len(in) < 5 {
					return responseHead{}, fmt.Errorf("%w: it is %s", errNotHTTP, shown(in))
				}
				err = io.ErrUnexpectedEOF
			}
			return responseHead{}, err
		}
	}
}

// shown is the beginning of an answer for people.
func shown(b []byte) string {
	line, _, _ := bytes.Cut(b[:min(len(b), 40)], []byte("\r\n"))
	return fmt.Sprintf("%q", line)
}

func parseHead(b []byte) (responseHead, error) {
	h := responseHead{length: -1}
	line, rest, _ := bytes.Cut(b, headEnd[:2])
	// HTTP/1.1 200 OK
	if len(line) < 12 || string(line[:7]) != "HTTP/1." || line[8] != ' ' {
		return h, fmt.Errorf("%w: it begins with %s", errNotHTTP, shown(line))
	}
	status, ok := decimal(line[9:12])
	if !ok || status < 100 || len(line) > 12 && line[12] != ' ' {
		return h, fmt.Errorf("%w: it begins with %s", errNotHTTP, shown(line))
	}
	h.status = int(status)
	h.close = line[7] == '0'
	for len(rest) > 0 {
		line, rest, _ = bytes.Cut(rest, headEnd[:2])
		colon := bytes.IndexByte(line, ':')
		if colon < 0 {
			continue
		}
		name := line[:colon]
		switch { // by length first: most headers are none of these
		case len(name) == 14 && equalFold(name, "content-length"):
			n, ok := decimal(bytes.TrimSpace(line[colon+1:]))
			if !ok || h.length >= 0 && h.length != n {
				return h, fmt.Errorf("%w: its Content-Length is %s", errNotHTTP, shown(line[colon+1:]))
			}
			h.length = n
		case len(name) == 17 && equalFold(name, "transfer-encoding"):
			h.chunked = strings.Contains(strings.ToLower(string(line[colon+1:])), "chunked")
		case len(name) == 10 && equalFold(name, "connection"):
			value := strings.ToLower(string(line[colon+1:]))
			h.close = strings.Contains(value, "close") || h.close && !strings.Contains(value, "keep-alive")
		}
	}
	return h, nil
}

func equalFold(b []byte, lower string) bool {
	for i, c := range b {
		if c|0x20 != lower[i] && c != lower[i] {
			return false
		}
	}
	return true
}

func decimal(b []byte) (n int64, ok bool) {
	if len(b) == 0 || len(b) > 18 {
		return 0, false
	}
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}

// skip throws n bytes away.
func (p *responses) skip(n int64) error {
	for {
		if have := int64(p.to - p.from); have >= n {
			p.from += int(n)
			return nil
		} else if n -= have; n > 0 {
			p.from = p.to
		}
		if err := p.fill(); err != nil {
			return err
		}
	}
}

// chunks throws a chunked body and its trailer away.
func (p *responses) chunks() error {
	for {
		line, err := p.line()
		if err != nil {
			return err
		}
		size, _, _ := bytes.Cut(line, []byte(";"))
		n, ok := hexadecimal(bytes.TrimSpace(size))
		if !ok {
			return fmt.Errorf("%w: a chunk's size is %s", errNotHTTP, shown(line))
		}
		if n > 0 {
			if err := p.skip(n + 2); err != nil {
				return err
			}
			continue
		}
		for {
			if line, err = p.line(); err != nil || len(line) == 0 {
				return err
			}
		}
	}
}

// line returns the next line, valid until the next read.
func (p *responses) line() ([]byte, error) {
	for {
		if i := bytes.IndexByte(p.buf[p.from:p.to], '\n'); i >= 0 {
			line := p.buf[p.from : p.from+i]
			p.from += i + 1
			return bytes.TrimSuffix(line, []byte("\r")), nil
		}
		if err := p.fill(); err != nil {
			return nil, err
		}
	}
}

func hexadecimal(b []byte) (n int64, ok bool) {
	if len(b) == 0 || len(b) > 15 {
		return 0, false
	}
	for _, c := range b {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		n = n<<4 | int64(c)
	}
	return n, true
}
