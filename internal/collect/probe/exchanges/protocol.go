package exchanges

import (
	"bytes"
	"encoding/binary"
	"strconv"

	"github.com/unstall/unstall/internal/format"
)

// Results of a call, as its answer shows them. Those of a database say whether a transaction is open after the call.
const (
	resultUnknown = "-"
	resultIdle    = "idle"
	resultOpen    = "open"
	resultFailed  = "failed"

	resultOverTCP = "tcp" // of a query to a name server, whose answer is not looked at
)

// appendCall writes the protocol, the result and the operation of a call, without identifiers. It reads them from the first bytes of the
// call (head), the first of the answer, and the answer's last (tail).
func appendCall(out, head, answer, tail []byte) []byte {
	p := recogniseProtocol(head)
	out = append(out, p...)
	result, what := resultUnknown, ""
	switch p {
	case "http":
		method, target, _ := requestLine(head)
		out = append(out, ' ')
		out = strconv.AppendInt(out, int64(httpStatus(answer)), 10)
		out = append(append(out, ' '), method...)
		return format.AppendRoute(append(out, ' '), target)
	case "postgresql":
		var tag string
		result, tag = postgresAnswer(answer, tail)
		if what = chooseStatement(postgresStatements(head), tag); what != "" && tag == "" && head[0] == 'P' && (result == resultIdle || result == resultOpen) {
			what = formatPrepared(what)
		}
	case "mysql":
		result, what = mysqlAnswer(answer, tail), mysqlCommand(head)
	case "resp":
		what = redisCommand(head)
		if len(answer) > 0 && answer[0] == '-' {
			result = resultFailed
		}
	case "dns":
		q, _ := askedOverTCP(head)
		return q.appendTo(append(append(append(out, ' '), resultOverTCP...), ' '))
	}
	if result == resultUnknown && what == "" {
		return out
	}
	out = append(append(out, ' '), result...)
	if what != "" {
		out = append(append(out, ' '), what...)
	}
	return out
}

var methods = []string{"GET ", "POST ", "PUT ", "DELETE ", "HEAD ", "PATCH ", "OPTIONS "}

// requestLine takes the method and the target, as far as it is there, of a request of HTTP/1.
func requestLine(head []byte) (method, target []byte, ok bool) {
	for _, m := range methods {
		if rest, is := bytes.CutPrefix(head, []byte(m)); is {
			target = rest
			if i := bytes.IndexAny(rest, " \r\n"); i >= 0 {
				target = rest[:i]
			} else if i := bytes.LastIndexByte(rest, '/'); i > 0 && bytes.IndexByte(rest, '?') < 0 {
				target = append(bytes.Clone(rest[:i+1]), "…"...) // cut within a segment, which may be an identifier
			}
			return head[:len(m)-1], target, len(target) > 0
		}
	}
	return nil, nil, false
}

// httpStatus returns the status of an answer of HTTP/1, 0 if it is unknown.
func httpStatus(answer []byte) int {
	if len(answer) < 12 || !bytes.HasPrefix(answer, []byte("HTTP/1.")) {
		return 0
	}
	n, err := strconv.Atoi(string(answer[9:12]))
	if err != nil {
		return 0
	}
	return n
}

// recogniseProtocol names the protocol that the first bytes of a transfer look like, "-" if none.
func recogniseProtocol(head []byte) string {
	switch _, _, http := requestLine(head); {
	case http:
		return "http"
	case len(head) >= 3 && (head[0] == 0x16 || head[0] == 0x17) && head[1] == 3:
		return "tls"
	case bytes.HasPrefix(head, []byte{fastCGI, fastCGIBegin}):
		return "fastcgi"
	case bytes.HasPrefix(head, []byte("PRI * HTTP/2")), frameBegins(head):
		return "h2"
	case isOverTCP(head):
		return "dns"
	case len(head) >= 2 && head[0] == '*' && '1' <= head[1] && head[1] <= '9':
		return "resp"
	case isPostgres(head):
		return "postgresql"
	case len(head) >= 5 && head[3] == 0 && head[0] > 0 && head[4] >= 1 && head[4] <= 0x1f && head[2] == 0: // length, number 0, command
		return "mysql"
	case len(head) >= 16 && binary.LittleEndian.Uint32(head[12:]) == 2013: // OP_MSG
		return "mongodb"
	}
	return "-"
}

// Records of FastCGI begin with its version and what they are (FastCGI specification 1.0, 3.3 and 8).
const (
	fastCGI      = 1
	fastCGIBegin = 1
	fastCGIStdin = 5
)

// restOfFastCGI says whether head begins a part of a FastCGI request's body or its end. A process may read these after it has answered.
func restOfFastCGI(head []byte) bool { return bytes.HasPrefix(head, []byte{fastCGI, fastCGIStdin}) }

// isPostgres says whether the bytes begin like a message of PostgreSQL's protocol: a letter, and a
// length that counts itself.
func isPostgres(head []byte) bool {
	if len(head) < 5 || !bytes.ContainsRune([]byte("QPBEDCSHfdcFpX"), rune(head[0])) {
		return false
	}
	n := binary.BigEndian.Uint32(head[1:])
	return n >= 4 && n < 1<<20
}
