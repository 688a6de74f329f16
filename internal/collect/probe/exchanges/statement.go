package exchanges

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
)

// statement is what is kept of one: its verb, the table that it names first, and whether it asks for locks of what it reads.
type statement struct {
	verb, table string
	locks       bool
}

func (s statement) String() string {
	text := s.verb
	if s.table != "" {
		text += " " + s.table
	}
	if s.locks {
		text += " FOR UPDATE"
	}
	return text
}

// verbs are those that statements begin with; no other word is kept.
var verbs = []string{"SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "REPLACE", "WITH", "VALUES", "TABLE", "BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT",
	"SAVEPOINT", "RELEASE", "SET", "RESET", "SHOW", "CALL", "DO", "LOCK", "UNLOCK", "COPY", "LOAD", "FETCH", "MOVE", "DECLARE", "CLOSE", "PREPARE", "EXECUTE", "DEALLOCATE",
	"DISCARD", "CREATE", "ALTER", "DROP", "TRUNCATE", "ANALYZE", "VACUUM", "EXPLAIN", "LISTEN", "NOTIFY", "UNLISTEN", "USE", "KILL", "HANDLER", "XA"}

// before is the word behind which a statement names its table; "" right behind the verb.
var before = map[string]string{"SELECT": "FROM", "INSERT": "INTO", "REPLACE": "INTO", "MERGE": "INTO", "DELETE": "FROM", "UPDATE": "", "TRUNCATE": "", "CALL": ""}

// notTables are words that stand where a table's name is looked for.
var notTables = []string{"ONLY", "TABLE", "LOW_PRIORITY", "IGNORE"}

// longestName is how long a table's name may be: what is cut off is no name.
const longestName = 64

// statementOf takes the verb of a statement's beginning and the table; whole says that it is all of it.
func statementOf(text []byte, whole bool) (s statement) {
	w := words{text: text, whole: whole}
	first := strings.ToUpper(w.next())
	if !slices.Contains(verbs, first) {
		return s
	}
	switch s.verb = first; first {
	case "START":
		s.verb = "BEGIN"
		return s
	case "END":
		s.verb = "COMMIT"
		return s
	case "ABORT":
		s.verb = "ROLLBACK"
		return s
	}
	at, names := before[first]
	if !names {
		return s
	}
	for at != "" {
		word := w.next()
		if word == "" && w.atEnd() {
			return s
		}
		if strings.EqualFold(word, at) {
			break
		}
	}
	word := w.next()
	for slices.Contains(notTables, strings.ToUpper(word)) {
		word = w.next()
	}
	if !strings.EqualFold(word, "SELECT") && !strings.EqualFold(word, "LATERAL") && !bytes.ContainsAny(text[:w.at], `'\`) { // behind a literal nothing is sure to be a name
		s.table = word
	}
	upper := bytes.ToUpper(text)
	s.locks = first == "SELECT" && (bytes.Contains(upper, []byte("FOR UPDATE")) || bytes.Contains(upper, []byte("FOR NO KEY UPDATE")))
	return s
}

// words are those of a statement, one after the other: names and keywords without their quotes, "" for anything else.
type words struct {
	text  []byte
	whole bool
	at    int
}

func (w *words) atEnd() bool { return w.at >= len(w.text) }

func (w *words) next() string {
	w.skipBlanks()
	if w.atEnd() {
		return ""
	}
	from := w.at
	for !w.atEnd() {
		switch c := w.text[w.at]; {
		case c == '"' || c == '`':
			end := bytes.IndexByte(w.text[w.at+1:], c)
			if end < 0 {
				w.at = len(w.text)
				return ""
			}
			w.at += end + 2
		case c == '_' || c == '$' || c == '.' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80:
			w.at++
		default:
			return w.endWord(from)
		}
	}
	if !w.whole {
		return "" // it may be cut
	}
	return w.endWord(from)
}

// endWord returns the name or keyword from a place up to the current one, without quotes; "" if it
// begins with a digit or is a sign or a literal.
func (w *words) endWord(from int) string {
	if w.at == from { // a sign, or a literal
		c := w.text[w.at]
		w.at++
		if c == '\'' {
			if end := bytes.IndexByte(w.text[w.at:], '\''); end >= 0 {
				w.at += end + 1
			} else {
				w.at = len(w.text)
			}
		}
		return ""
	}
	text := w.text[from:w.at]
	if len(text) > longestName || text[0] >= '0' && text[0] <= '9' || text[0] == '$' || text[0] == '.' {
		return ""
	}
	out := make([]byte, 0, len(text))
	for _, c := range text {
		switch {
		case c == '"' || c == '`':
		case c <= ' ' || c == 0x7f:
			return ""
		default:
			out = append(out, c)
		}
	}
	return strings.ToValidUTF8(string(out), "")
}

// skipBlanks skips blanks and comments, in which programs write who asks.
func (w *words) skipBlanks() {
	for !w.atEnd() {
		rest := w.text[w.at:]
		switch c := rest[0]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '(' || c == ';':
			w.at++
		case bytes.HasPrefix(rest, []byte("/*")):
			w.skipPast(rest, "*/")
		case bytes.HasPrefix(rest, []byte("--")), c == '#':
			w.skipPast(rest, "\n")
		default:
			return
		}
	}
}

func (w *words) skipPast(rest []byte, end string) {
	if i := bytes.Index(rest, []byte(end)); i >= 0 {
		w.at += i + len(end)
	} else {
		w.at = len(w.text)
	}
}

// chooseStatement chooses of the statements that were sent together the one whose end the answer
// tells, else the first that does not begin a transaction.
func chooseStatement(all []statement, tag string) string {
	if tag != "" {
		for _, s := range all {
			if s.verb == tag {
				return s.String()
			}
		}
		return tag
	}
	for _, s := range all {
		if s.verb != "BEGIN" {
			return s.String()
		}
	}
	if len(all) > 0 {
		return all[0].String()
	}
	return ""
}

// postgresStatements are those that stand in the first bytes of what was sent
// (https://www.postgresql.org/docs/current/protocol-message-formats.html: Query and Parse).
func postgresStatements(head []byte) (all []statement) {
	for len(head) >= 5 {
		n := int64(binary.BigEndian.Uint32(head[1:])) + 1
		if n < 5 {
			return all
		}
		body := head[5:min(int64(len(head)), n)]
		kind := head[0]
		head = head[min(int64(len(head)), n):]
		if kind == 'P' {
			_, text, named := bytes.Cut(body, []byte{0})
			if !named {
				return all
			}
			body = text
		}
		if kind != 'P' && kind != 'Q' {
			continue
		}
		text, _, whole := bytes.Cut(body, []byte{0})
		for part := range bytes.SplitSeq(text, []byte{';'}) {
			if s := statementOf(part, whole); s.verb != "" {
				all = append(all, s)
			}
		}
	}
	return all
}

// postgresAnswer says how the transaction stands when the server is ready again, and which command it has completed last
// (ReadyForQuery, CommandComplete, ErrorResponse).
func postgresAnswer(answer, tail []byte) (result, tag string) {
	n := len(tail) - 6
	if n < 0 || tail[n] != 'Z' || binary.BigEndian.Uint32(tail[n+1:]) != 5 {
		return resultUnknown, ""
	}
	switch tail[n+5] {
	case 'I':
		result = resultIdle
	case 'T':
		result = resultOpen
	default:
		return resultFailed, ""
	}
	for i := range max(0, n-5) {
		if tail[i] == 'C' && int64(i)+1+int64(binary.BigEndian.Uint32(tail[i+1:])) == int64(n) && n-1 >= i+5 {
			words := tail[i+5 : n-1]
			end := 0
			for end < len(words) && (words[end] >= 'A' && words[end] <= 'Z' || words[end] == ' ') {
				end++
			}
			tag = strings.TrimSpace(string(words[:end]))
		}
	}
	for len(answer) >= 5 && (answer[0] == '1' || answer[0] == '2') && binary.BigEndian.Uint32(answer[1:]) == 4 {
		answer = answer[5:] // ParseComplete, BindComplete
	}
	if len(answer) > 0 && answer[0] == 'E' {
		return resultFailed, tag
	}
	return result, tag
}

// Commands of MySQL's protocol (https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_command_phase.html).
const (
	mysqlQuery   = 0x03
	mysqlPing    = 0x0e
	mysqlPrepare = 0x16
	mysqlExecute = 0x17
	mysqlClose   = 0x19 // of a prepared statement; it has no answer
)

// mysqlCommand is what was sent first.
func mysqlCommand(head []byte) string {
	if len(head) < 5 {
		return ""
	}
	whole := int(head[0])|int(head[1])<<8|int(head[2])<<16 <= len(head)-4
	switch text := head[5:]; head[4] {
	case mysqlQuery:
		text = bytes.TrimPrefix(text, []byte{0, 1}) // no attributes of the query (CLIENT_QUERY_ATTRIBUTES), in one set
		return statementOf(text, whole).String()
	case mysqlPrepare:
		return formatPrepared(statementOf(text, whole).String())
	case mysqlExecute:
		return "EXECUTE"
	case mysqlPing:
		return "PING"
	}
	return ""
}

// formatPrepared names a statement that is only prepared.
func formatPrepared(what string) string {
	if what == "" {
		return "PREPARE"
	}
	return "PREPARE " + what
}

const mysqlInTransaction = 1 // SERVER_STATUS_IN_TRANS

// mysqlAnswer says what the status of an OK or EOF packet does: whether a transaction is open.
func mysqlAnswer(answer, tail []byte) string {
	flags, known := uint16(0), false
	if len(answer) > 4 && answer[4] == 0xff {
		return resultFailed
	}
	n := len(tail)
	ends := func(size, length int, first ...byte) bool { // in one packet of such a length, that begins with one of these
		return n >= size && int(tail[n-size]) == length && tail[n-size+1] == 0 && tail[n-size+2] == 0 && bytes.IndexByte(first, tail[n-size+4]) >= 0
	}
	switch {
	case ends(9, 5, 0xfe): // EOF: warnings, status
		flags, known = binary.LittleEndian.Uint16(tail[n-2:]), true
	case ends(11, 7, 0x00, 0xfe): // OK: rows, id, status, warnings
		flags, known = binary.LittleEndian.Uint16(tail[n-4:]), true
	case len(answer) > 4 && answer[4] == 0:
		rest, ok := skipNumber(answer[5:])
		if rest, ok2 := skipNumber(rest); ok && ok2 && len(rest) >= 2 {
			flags, known = binary.LittleEndian.Uint16(rest), true
		}
	}
	switch {
	case !known:
		return resultUnknown
	case flags&mysqlInTransaction != 0:
		return resultOpen
	}
	return resultIdle
}

// skipNumber skips one whose first byte says how long it is.
func skipNumber(b []byte) ([]byte, bool) {
	if len(b) == 0 {
		return nil, false
	}
	size := 1
	switch b[0] {
	case 0xfc:
		size = 3
	case 0xfd:
		size = 4
	case 0xfe:
		size = 9
	}
	if len(b) < size {
		return nil, false
	}
	return b[size:], true
}

// redisCommand is the first word of a command of RESP.
func redisCommand(head []byte) string {
	_, rest, _ := bytes.Cut(head, []byte("\r\n"))
	size, rest, _ := bytes.Cut(rest, []byte("\r\n"))
	word, _, whole := bytes.Cut(rest, []byte("\r\n"))
	if !whole || len(size) < 2 || size[0] != '$' || len(word) == 0 || len(word) > 20 {
		return ""
	}
	for _, c := range word {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '.' || c == '_') {
			return ""
		}
	}
	return strings.ToUpper(string(word))
}
