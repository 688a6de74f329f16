// Package statementlog reads the statements that mappers of objects write into a program's own log, with how long each took:
//
//	2020-03-24 10:34:48.971 [INF] Executed DbCommand (156ms) [Parameters=[…], CommandType='Text', CommandTimeout='30']        Entity Framework Core,
//	SELECT TOP(1) [s].[Id] FROM [AppSettings] AS [s] WHERE [s].[Name] = @__name_0                                             the statement below
//	(0.002) SELECT "shop_part"."id" FROM "shop_part" WHERE "shop_part"."id" = 7 LIMIT 21; args=(7,); alias=default            Django
//	[12.345ms] [rows:1] SELECT * FROM `parts` WHERE `parts`.`id` = 7 LIMIT 1                                                  GORM
//	    1523000000 nanoseconds spent executing 1001 JDBC statements;                                                          Hibernate, of a session
//
// Sources: RelationalStrings.resx of https://github.com/dotnet/efcore (2 to 9), django/db/backends/utils.py (1.4 to 5.2), logger/logger.go of
// https://github.com/go-gorm/gorm (1.20 to 1.30), StatisticalLoggingSessionEventListener.java of https://github.com/hibernate/hibernate-orm (4.3 to 6).
//
// What is counted is statements of one shape that follow each other: each ends before the next begins, and they take at least half of the time from the first to the last,
// as those of a loop do. Statements of requests that run side by side overlap, or leave time between them. Where lines have no times, a request's own line ends it.
package statementlog

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/format"
)

// Format reads such a log.
var Format = format.Format{
	Name:  "statement-log",
	About: "statements that object mappers log with their time (Entity Framework Core, Django, GORM), and Hibernate's figures of a session",
	Match: matchHead,
	Parse: parseArtifact,
}

// Bounds of what is kept.
const (
	mostLine   = 64 << 10
	mostShapes = 2000
	mostShape  = 200
	mostShown  = 15
)

var (
	efMark      = []byte("Executed DbCommand (")
	djangoMark  = []byte("; args=")
	gormMark    = []byte("ms] [rows:")
	sessionMark = []byte("nanoseconds spent executing ")
)

func hasMark(text []byte) bool {
	return bytes.Contains(text, efMark) || bytes.Contains(text, gormMark) || bytes.Contains(text, djangoMark) || bytes.Contains(text, sessionMark)
}

func matchHead(head []byte) format.Confidence {
	if !hasMark(head) {
		return format.No
	}
	for l := range bytes.Lines(head) {
		if len(l) > mostLine || !hasMark(l) {
			continue
		}
		if _, ok := parseLine(l); ok {
			return format.Sure
		}
		if _, ok := parseSession(l); ok {
			return format.Sure
		}
	}
	return format.No
}

// statement is a line about one.
type statement struct {
	took    float64 // ns
	text    string  // "" it stands in the lines below
	runtime string
}

// parseLine reads a line about a statement.
func parseLine(l []byte) (s statement, ok bool) {
	if _, rest, found := bytes.Cut(l, efMark); found {
		ms, rest, closed := bytes.Cut(rest, []byte("ms) ["))
		v, ok := parseMillis(string(ms))
		if !closed || !ok {
			return s, false
		}
		s = statement{took: v, runtime: "dotnet"}
		if _, sql, inline := bytes.Cut(rest, []byte("CommandTimeout='")); inline { // a logger that writes no line ends
			_, sql, _ = bytes.Cut(sql, []byte("']"))
			s.text = strings.TrimSpace(string(sql))
		}
		return s, true
	}
	if i := bytes.Index(l, gormMark); i >= 0 {
		open := bytes.LastIndexByte(l[:i], '[')
		_, sql, closed := bytes.Cut(l[i+len(gormMark):], []byte("] "))
		if open < 0 || !closed {
			return s, false
		}
		v, ok := parseMillis(string(l[open+1 : i]))
		return statement{took: v, text: strings.TrimSpace(string(sql)), runtime: "go"}, ok
	}
	if i := bytes.LastIndex(l, djangoMark); i >= 0 {
		open := bytes.IndexByte(l, '(')
		if open < 0 || open > i {
			return s, false
		}
		seconds, sql, closed := bytes.Cut(l[open+1:i], []byte(") "))
		v, err := strconv.ParseFloat(string(seconds), 64)
		if !closed || err != nil || !(v >= 0 && v < 1e5) || len(seconds) < 5 || !beginsStatement(sql) {
			return s, false
		}
		return statement{took: v * 1e9, text: string(sql), runtime: "python"}, true
	}
	return s, false
}

// beginsStatement says whether text begins with a verb of SQL.
func beginsStatement(sql []byte) bool {
	verb, _, _ := bytes.Cut(bytes.TrimSpace(sql), []byte(" "))
	switch strings.ToUpper(string(verb)) {
	case "SELECT", "INSERT", "UPDATE", "DELETE", "WITH", "SAVEPOINT", "RELEASE", "BEGIN", "COMMIT":
		return true
	}
	return false
}

// parseMillis reads "1,204" and "12.345" as ns.
func parseMillis(s string) (ns float64, ok bool) {
	v, err := strconv.ParseFloat(strings.ReplaceAll(s, ",", ""), 64)
	return v * 1e6, err == nil && v >= 0 && v < 1e9
}

// session is what Hibernate counts of one.
type session struct{ took, n float64 }

// parseSession reads "1523000000 nanoseconds spent executing 1001 JDBC statements;".
func parseSession(l []byte) (s session, ok bool) {
	before, after, ok := bytes.Cut(l, sessionMark)
	f := bytes.Fields(before)
	n, rest, ok2 := bytes.Cut(after, []byte(" "))
	if !ok || !ok2 || len(f) == 0 || !bytes.HasPrefix(rest, []byte("JDBC statements")) {
		return s, false
	}
	var err, err2 error
	s.took, err = strconv.ParseFloat(string(f[len(f)-1]), 64)
	s.n, err2 = strconv.ParseFloat(string(n), 64)
	return s, err == nil && err2 == nil && s.took >= 0 && s.n >= 0 && s.took < 1e17 && s.n < 1e9
}

// shapeOf leaves out what differs between statements of one shape: figures and what stands in quotation marks of SQL.
func shapeOf(sql string) string {
	out := make([]byte, 0, mostShape)
	for i := 0; i < len(sql) && len(out) < mostShape; i++ {
		switch c := sql[i]; {
		case c == '\'':
			for i++; i < len(sql) && sql[i] != '\''; i++ {
			}
			out = append(out, '?')
		case c >= '0' && c <= '9' && (len(out) == 0 || !isWord(out[len(out)-1])):
			for i+1 < len(sql) && (isWord(sql[i+1]) || sql[i+1] == '.') {
				i++
			}
			out = append(out, '?')
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			if len(out) > 0 && out[len(out)-1] != ' ' {
				out = append(out, ' ')
			}
		default:
			out = append(out, c)
		}
	}
	out = bytes.TrimRight(out, " ")
	return strings.ToValidUTF8(string(out), "?")
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$'
}
