package format

import (
	"bytes"
	"strconv"
)

// Stamp reads the line that probes write above each answer of a repeated question,
// "== 1795268461318000000 hsperfdata of 4711 ==": its time, in ns since the epoch, and
// its process. what names the answer.
func Stamp(line []byte, what string) (at int64, pid int, ok bool) {
	const longest = 100
	rest, begins := bytes.CutPrefix(bytes.TrimSpace(line[:min(len(line), longest)]), []byte("== "))
	rest, ends := bytes.CutSuffix(rest, []byte(" =="))
	when, id, is := bytes.Cut(rest, []byte(" "+what+" of "))
	if !begins || !ends || !is {
		return 0, 0, false
	}
	at, err := strconv.ParseInt(string(when), 10, 64)
	pid, err2 := strconv.Atoi(string(id))
	return at, pid, err == nil && err2 == nil && at > 0
}
