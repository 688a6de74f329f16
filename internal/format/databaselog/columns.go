package databaselog

import (
	"bytes"
	"encoding/json"
)

var (
	csvLevel  = []byte(",LOG,")
	jsonLevel = []byte(`"error_severity":"LOG"`)
)

// mostColumns is how many bytes of a line in columns are read.
const mostColumns = 64 << 10

// toStderrLine converts a line of csvlog or jsonlog to PostgreSQL's form on stderr, nil for other lines:
//
//	2023-05-02 10:11:12.120 UTC LOG:  duration: 8123.441 ms  statement: …
func toStderrLine(l []byte) []byte {
	switch {
	case len(l) < 30 || len(l) > mostColumns:
		return nil
	case l[0] == '{':
		if !bytes.Contains(l, jsonLevel) {
			return nil
		}
		var v struct{ Timestamp, Message string }
		if json.Unmarshal(bytes.TrimSpace(l), &v) != nil || v.Message == "" {
			return nil
		}
		return []byte(v.Timestamp + " LOG:  " + v.Message)
	case l[0] != '2' || !bytes.Contains(l, csvLevel):
		return nil
	}
	_, rest, _ := bytes.Cut(l, csvLevel)
	at := bytes.IndexByte(rest, ',') // behind the SQLSTATE
	if at < 0 || at > 6 || at+2 >= len(rest) {
		return nil
	}
	message := rest[at+1:]
	if message[0] != '"' {
		message, _, _ = bytes.Cut(message, []byte(","))
	} else {
		message = unquoteCell(message[1:])
	}
	stamp, _, _ := bytes.Cut(l, []byte(","))
	return append(append(bytes.Clone(stamp), " LOG:  "...), message...)
}

// unquoteCell returns a cell up to its closing quote; two quotes stand for one. A cut cell is
// returned up to its end.
func unquoteCell(s []byte) (out []byte) {
	for i := 0; i < len(s); i++ {
		if s[i] == '"' {
			if i+1 == len(s) || s[i+1] != '"' {
				return out
			}
			i++
		}
		out = append(out, s[i])
	}
	return out
}
