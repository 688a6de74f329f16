package redisreply

import (
	"strconv"
	"strings"
)

// header is the line above an answer: the command.
type header struct {
	name string // "INFO", "SLOWLOG GET"; "" unknown
	of   string // the text behind it: the event of LATENCY HISTORY
	at   int64  // ns: the time of the answer, from a recorder
	pid  int    // of the server, likewise
	took int64  // ns from the question to its end
}

// isRead says whether this package reads the answer.
func (h header) isRead() bool {
	switch h.name {
	case "INFO", "SLOWLOG GET", "COMMANDLOG GET", "LATENCY LATEST", "LATENCY HISTORY", "LATENCY HISTOGRAM", "LATENCY DOCTOR", "MEMORY DOCTOR",
		"CLIENT LIST", "MEMORY STATS", "CONFIG GET", "CLUSTER INFO":
		return true
	}
	return false
}

// plainFirst says whether an answer may begin with an empty line.
func plainFirst(name string) bool { return name == "CONFIG GET" }

// headerOf reads a recorder's stamp, a prompt of redis-cli with what was typed, or the call of redis-cli
// in a shell.
func headerOf(line string) (h header, ok bool) {
	const longest = 300
	line = line[:min(len(line), longest)]
	if h, ok = parseStamp(line); ok {
		return h, true
	}
	if asked, ok := parsePrompt(line); ok {
		h.name, h.of = commandName(asked)
		return h, true
	}
	return h, false
}

// parseStamp reads "== 1795268461318000000 SLOWLOG GET of 4711 took 81000 ns ==".
func parseStamp(line string) (h header, ok bool) {
	rest, begins := strings.CutPrefix(line, "== ")
	rest, ends := strings.CutSuffix(rest, " ns ==")
	if !begins || !ends {
		return h, false
	}
	f := strings.Fields(rest)
	n := len(f)
	if n < 6 || f[n-2] != "took" || f[n-4] != "of" {
		return h, false
	}
	at, err := strconv.ParseInt(f[0], 10, 64)
	pid, err2 := strconv.ParseInt(f[n-3], 10, 32)
	took, err3 := strconv.ParseInt(f[n-1], 10, 64)
	if err != nil || err2 != nil || err3 != nil || at < 1e17 || at > 4e18 || pid < 0 || took < 0 || took > 1e15 {
		return h, false
	}
	h.name, h.of = commandName(f[1 : n-4])
	h.at, h.pid, h.took = at, int(pid), took
	return h, true
}

// parsePrompt reads "127.0.0.1:6379[2]> SLOWLOG GET 10", "redis 10.0.0.7:6379> INFO", "redis
// /run/redis.sock> INFO", "$ redis-cli -p 6380 INFO".
func parsePrompt(line string) (asked []string, ok bool) {
	if place, typed, is := strings.Cut(line, "> "); is && isPlace(place) {
		f := strings.Fields(typed)
		return f, len(f) > 0
	}
	for _, tool := range []string{"redis-cli ", "valkey-cli ", "keydb-cli "} {
		i := strings.Index(line, tool)
		if i < 0 || i > 0 && !strings.ContainsRune(" /", rune(line[i-1])) {
			continue
		}
		f := strings.Fields(line[i+len(tool):])
		for len(f) > 0 && strings.HasPrefix(f[0], "-") {
			if takesValue(f[0]) && len(f) > 1 {
				f = f[1:]
			}
			f = f[1:]
		}
		return f, len(f) > 0
	}
	return nil, false
}

// takesValue says whether an option of redis-cli is followed by a value.
func takesValue(option string) bool {
	switch option {
	case "-h", "-p", "-s", "-a", "-u", "-n", "-r", "-i", "-t", "-d", "-D", "--user", "--pass", "--cacert", "--cert", "--key", "--sni":
		return true
	}
	return false
}

// isPlace knows what redis-cli shows of where it is connected.
func isPlace(s string) bool {
	if strings.HasPrefix(s, "redis /") || s == "redis" || s == "not connected" {
		return true
	}
	s = strings.TrimPrefix(s, "redis ") // redis-cli before 2.8
	if i := strings.IndexByte(s, '['); i > 0 && strings.HasSuffix(s, "]") && !strings.Contains(s[i:], ":") {
		s = s[:i] // the number of the database
	}
	i := strings.LastIndexByte(s, ':')
	if i <= 0 || strings.ContainsAny(s, " \t\"'") {
		return false
	}
	port, err := strconv.ParseUint(s[i+1:], 10, 16)
	return err == nil && port > 0
}

// commandName returns what was asked as the documentation writes it, "SLOWLOG GET", and what
// follows that.
func commandName(words []string) (name, of string) {
	if len(words) == 0 {
		return "", ""
	}
	name = strings.ToUpper(words[0])
	switch rest := words[1:]; {
	case name == "INFO":
		return name, ""
	case len(rest) == 0:
		return name, ""
	case containers[name]:
		name += " " + strings.ToUpper(rest[0])
		if len(rest) > 1 {
			of = strings.Trim(rest[1], `"'`)
		}
	}
	return name, of
}

// containers are commands whose first argument says what they do.
var containers = map[string]bool{"SLOWLOG": true, "COMMANDLOG": true, "LATENCY": true, "CLIENT": true, "MEMORY": true, "CONFIG": true, "CLUSTER": true,
	"SCRIPT": true, "FUNCTION": true, "OBJECT": true, "XINFO": true, "XGROUP": true, "PUBSUB": true, "ACL": true, "MODULE": true, "COMMAND": true, "DEBUG": true, "SENTINEL": true}
