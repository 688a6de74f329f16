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

	phase phase
	a     answer
	start int64 // of the response, in what was read
	left  int64 // of a body or chunk
	seen  int   // of what is there, without the end of a head
}

const maxHead = 256 << 10

func newResponses(r io.Reader) *responses { return &responses{r: r, buf: make([]byte, 4<<10)} }

// fillBuffer reads more behind what there is.
func (p *responses) fillBuffer() error {
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

// next reads one response, to a request of a method, past interim ones. After an
// error of the reader that is errWait it goes on when it is called again.
func (p *responses) next(head bool) (answer, error) {
	err := p.readResponse(head)
	if err != nil {
		if err == io.EOF && p.phase != atHead {
			err = io.ErrUnexpectedEOF
		}
		return answer{}, err
	}
	a := p.a
	used := p.read - int64(p.to-p.from)
	a.bytes = used - p.start
	p.start, p.phase = used, atHead
	return a, nil
}

// errWait is what a reader says that has nothing now, and is asked again later.
var errWait = errors.New("nothing to read now")

// phase is where in a response it is.
type phase uint8

const (
	atHead phase = iota
	inBody
	atChunk
	inChunk
	inTrailer
	untilEnd
)

// readResponse reads until the end of a response.
func (p *responses) readResponse(head bool) error {
	for {
		switch p.phase {
		case atHead:
			h, err := p.readHead()
			if err != nil {
				return err
			}
			p.a = answer{status: h.status, close: h.close}
			switch {
			case h.status == http.StatusSwitchingProtocols:
				return fmt.Errorf("%w: it switched to another protocol", errNotHTTP)
			case h.status < 200:
				continue
			case head || h.status == http.StatusNoContent || h.status == http.StatusNotModified:
				return nil
			case h.chunked:
				p.phase = atChunk
			case h.length >= 0:
				p.left, p.phase = h.length, inBody
			default:
				p.a.close = true
				p.phase = untilEnd
			}
		case inBody:
			return p.skipBody()
		case atChunk:
			line, err := p.readLine()
			if err != nil {
				return err
			}
			size, _, _ := bytes.Cut(line, []byte(";"))
			n, ok := parseHex(bytes.TrimSpace(size))
			switch {
			case !ok:
				return fmt.Errorf("%w: a chunk's size is %s", errNotHTTP, quoteStart(line))
			case n > 0:
				p.left, p.phase = n+2, inChunk
			default:
				p.phase = inTrailer
			}
		case inChunk:
			if err := p.skipBody(); err != nil {
				return err
			}
			p.phase = atChunk
		case inTrailer:
			if line, err := p.readLine(); err != nil || len(line) == 0 {
				return err
			}
		case untilEnd:
			p.from = p.to
			if err := p.fillBuffer(); err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
		}
	}
}

type responseHead struct {
	status         int
	length         int64 // < 0 not said
	chunked, close bool
}

var headEnd = []byte("\r\n\r\n")

// readHead reads a status line and the headers that say where the body ends.
func (p *responses) readHead() (responseHead, error) {
	for {
		in := p.buf[p.from:p.to]
		if i := bytes.Index(in[p.seen:], headEnd); i >= 0 {
			end := p.seen + i
			p.seen = 0
			p.from += end + len(headEnd)
			return parseHead(in[:end])
		}
		if len(in) >= 5 && string(in[:5]) != "HTTP/" {
			return responseHead{}, fmt.Errorf("%w: it begins with %s", errNotHTTP, quoteStart(in))
		}
		p.seen = max(0, len(in)-len(headEnd)+1)
		if err := p.fillBuffer(); err != nil {
			if err == io.EOF && p.to > p.from {
				if in = p.buf[p.from:p.to]; len(in) < 5 {
					return responseHead{}, fmt.Errorf("%w: it is %s", errNotHTTP, quoteStart(in))
				}
				err = io.ErrUnexpectedEOF
			}
			return responseHead{}, err
		}
	}
}

// quoteStart quotes the beginning of an answer for an error.
func quoteStart(b []byte) string {
	line, _, _ := bytes.Cut(b[:min(len(b), 40)], []byte("\r\n"))
	return fmt.Sprintf("%q", line)
}

func parseHead(b []byte) (responseHead, error) {
	h := responseHead{length: -1}
	line, rest, _ := bytes.Cut(b, headEnd[:2])
	// HTTP/1.1 200 OK
	if len(line) < 12 || string(line[:7]) != "HTTP/1." || line[8] != ' ' {
		return h, fmt.Errorf("%w: it begins with %s", errNotHTTP, quoteStart(line))
	}
	status, ok := parseDecimal(line[9:12])
	if !ok || status < 100 || len(line) > 12 && line[12] != ' ' {
		return h, fmt.Errorf("%w: it begins with %s", errNotHTTP, quoteStart(line))
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
			n, ok := parseDecimal(bytes.TrimSpace(line[colon+1:]))
			if !ok || h.length >= 0 && h.length != n {
				return h, fmt.Errorf("%w: its Content-Length is %s", errNotHTTP, quoteStart(line[colon+1:]))
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

func parseDecimal(b []byte) (n int64, ok bool) {
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

// skipBody reads and drops what is left of a body or chunk.
func (p *responses) skipBody() error {
	for {
		have := int64(p.to - p.from)
		if have >= p.left {
			p.from += int(p.left)
			p.left = 0
			return nil
		}
		p.left -= have
		p.from = p.to
		if p.left > int64(len(p.buf)) && len(p.buf) < largeBuffer {
			p.buf = make([]byte, largeBuffer)
			p.from, p.to = 0, 0
		}
		if err := p.fillBuffer(); err != nil {
			return err
		}
	}
}

// largeBuffer is for bodies: fewer system calls.
const largeBuffer = 32 << 10

// readLine returns the next line, valid until the next read.
func (p *responses) readLine() ([]byte, error) {
	for {
		if i := bytes.IndexByte(p.buf[p.from:p.to], '\n'); i >= 0 {
			line := p.buf[p.from : p.from+i]
			p.from += i + 1
			return bytes.TrimSuffix(line, []byte("\r")), nil
		}
		if err := p.fillBuffer(); err != nil {
			return nil, err
		}
	}
}

func parseHex(b []byte) (n int64, ok bool) {
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
