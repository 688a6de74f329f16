package redisreply

import (
	"cmp"
	"strconv"
	"strings"
)

// takePlain takes an answer with one value per line, as redis-cli prints it into a file: only the
// values show where lists begin and end.
func (p *parser) takePlain(lines []string) bool {
	for len(lines) > 0 && lines[len(lines)-1] == "" && p.now.name != "SLOWLOG GET" { // the last entry ends with a name, which may be empty
		lines = lines[:len(lines)-1]
	}
	name := p.now.name
	if name == "" {
		name = plainShape(lines)
	}
	p.understood++
	switch name {
	case "SLOWLOG GET", "COMMANDLOG GET":
		calls := slowLines(lines, p.began)
		p.slow.addCalls(p, calls)
		return len(calls) > 0 || len(strings.Join(lines, "")) == 0
	case "LATENCY LATEST":
		return p.events.takeLatest(p, inLists(lines, 4, len(lines)%4 != 0 && len(lines)%6 == 0))
	case "LATENCY HISTORY":
		return p.events.takeHistory(p, cmp.Or(p.now.of, p.eventOfFile()), inLists(lines, 2, false))
	case "LATENCY HISTOGRAM":
		return p.takeHistogram(histogramLines(lines))
	case "MEMORY STATS":
		root := &node{kind: list}
		for _, l := range lines {
			root.items = append(root.items, &node{kind: text, text: l})
		}
		return p.takeMemory(root)
	case "CONFIG GET":
		return p.takeSettings(lines)
	case "PING", "CLIENT LIST", "SLOWLOG LEN", "SLOWLOG RESET", "LATENCY RESET", "CONFIG SET", "CONFIG RESETSTAT":
		return true // nothing to be read
	}
	p.understood--
	return false
}

// plainShape returns the command, by the first lines of such an answer; "" if it is unknown.
func plainShape(lines []string) string {
	switch {
	case len(lines) >= 4 && isWhole(lines[0]) && isTime(lines[1]) && isWhole(lines[2]) && !isWhole(lines[3]):
		return "SLOWLOG GET"
	case len(lines) >= 4 && eventNames[lines[0]] && isTime(lines[1]) && isWhole(lines[2]) && isWhole(lines[3]):
		return "LATENCY LATEST"
	case historyLines(lines):
		return "LATENCY HISTORY"
	case len(lines) >= 4 && lines[1] == "calls" && isWhole(lines[2]) && lines[3] == "histogram_usec":
		return "LATENCY HISTOGRAM"
	case len(lines) >= 2 && lines[0] == "peak.allocated" && isWhole(lines[1]):
		return "MEMORY STATS"
	case settingLines(lines):
		return "CONFIG GET"
	}
	return ""
}

// historyLines says whether lines are times, and how many ms each took.
func historyLines(lines []string) bool {
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	const longest = 7 // digits: three hours
	for i := 0; i+1 < len(lines); i += 2 {
		if !isTime(lines[i]) || !isWhole(lines[i+1]) || len(lines[i+1]) > longest || i >= 2 && lines[i] < lines[i-2] {
			return false
		}
	}
	return len(lines) >= 2 && len(lines)%2 == 0
}

// settingLines says whether every other line is a name and most of those of settings are known.
func settingLines(lines []string) bool {
	names, known, like := 0, 0, 0
	for i := 0; i+1 < len(lines) && i < 40; i += 2 {
		if s := lines[i]; s == "" || strings.ToLower(s) != s || strings.ContainsAny(s, " :=\"/") {
			return false
		}
		names++
		if isSetting(lines[i]) {
			known++
		}
		if begin, _, _ := strings.Cut(lines[i], "-"); settingBegins[begin] || isSetting(lines[i]) {
			like++
		}
	}
	return known > 0 && 3*known >= names || names >= manySettings && 3*like >= 2*names // of all settings, in no order, the first need not be known
}

// manySettings is how many settings an answer to CONFIG GET '*' has at least.
const manySettings = 15

// settingBegins are what the names of settings begin with, up to their first hyphen.
var settingBegins = func() map[string]bool {
	of := make(map[string]bool)
	for name := range strings.FieldsSeq(`acl acllog active activedefrag activerehashing always aof aof_rewrite_cpulist appenddirname appendfilename appendfsync appendonly auto bgsave_cpulist bind bind
		bio_cpulist busy client close cluster crash daemonize databases dbfilename dir disable dynamic enable gopher hash hll hz ignore io jemalloc key latency lazyfree lfu list locale logfile loglevel lookahead lua
		masterauth masteruser max maxclients maxmemory min no notify oom oom pidfile port proc proto protected propagation protected queue rdb rdbchecksum rdbcompression repl replica replicaof req requirepass save sanitize server_cpulist set
		set shutdown slave slaveof slowlog socket stop stream supervised syslog tcp timeout tls tracking unixsocket unixsocketperm use watchdog zset`) {
		of[name] = true
	}
	return of
}()

// startsPlain says whether such an answer may begin with a line.
func startsPlain(s string) bool {
	return isWhole(s) || eventNames[s] || s == "peak.allocated" || isSetting(s) || s != "unknown" && cleanName(s) == s && strings.ToLower(s) == s
}

func isWhole(s string) bool {
	if s == "" || len(s) > 18 {
		return false
	}
	for _, c := range s {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// isTime knows a time in seconds since the epoch, from 2001 on.
func isTime(s string) bool { return len(s) == 10 && isWhole(s) }

// inLists cuts lines into lists of n values; newer servers print six for each event.
func inLists(lines []string, n int, six bool) *node {
	root := &node{kind: list}
	if six {
		n = 6
	}
	for ; len(lines) >= n; lines = lines[n:] {
		of := &node{kind: list}
		for _, l := range lines[:n] {
			x := &node{kind: text, text: l}
			if v, err := strconv.ParseInt(l, 10, 64); err == nil {
				x.kind, x.whole = integer, v
			}
			of.items = append(of.items, x)
		}
		root.items = append(root.items, of)
	}
	return root
}

// histogramLines reads LATENCY HISTOGRAM: a command, "calls", how many, "histogram_usec", and pairs.
func histogramLines(lines []string) *node {
	whole := func(s string) *node {
		v, _ := strconv.ParseInt(s, 10, 64)
		return &node{kind: integer, whole: v}
	}
	root := &node{kind: list}
	for len(lines) >= 4 && lines[1] == "calls" {
		buckets := &node{kind: list}
		of := &node{kind: list, items: []*node{{kind: text, text: "calls"}, whole(lines[2]), {kind: text, text: "histogram_usec"}, buckets}}
		root.items = append(root.items, &node{kind: text, text: lines[0]}, of)
		for lines = lines[4:]; len(lines) >= 2 && isWhole(lines[0]) && isWhole(lines[1]); lines = lines[2:] {
			buckets.items = append(buckets.items, whole(lines[0]), whole(lines[1]))
		}
	}
	return root
}

// slowLines reads SLOWLOG GET: id, time and duration, the arguments, and from Redis 4 on the client's
// address and name. Ids follow each other downwards, which tells them from arguments that are numbers.
func slowLines(lines []string, began int64) (all []call) {
	var starts []int
	id := int64(-1)
	for i := 0; i+3 < len(lines); i++ {
		if !isWhole(lines[i]) || !isTime(lines[i+1]) || !isWhole(lines[i+2]) {
			continue
		}
		n, _ := strconv.ParseInt(lines[i], 10, 64)
		if len(starts) > 0 && (n != id-1 || i < starts[len(starts)-1]+4) {
			continue
		}
		id = n
		starts = append(starts, i)
	}
	for k, i := range starts {
		end := len(lines)
		if k+1 < len(starts) {
			end = starts[k+1]
		}
		c := call{line: began + int64(i)}
		c.id, _ = strconv.ParseInt(lines[i], 10, 64)
		c.at, _ = strconv.ParseInt(lines[i+1], 10, 64)
		c.took, _ = strconv.ParseInt(lines[i+2], 10, 64)
		c.arguments = lines[i+3 : end]
		if n := len(c.arguments); n >= 3 && isAddress(c.arguments[n-2]) {
			c.client, c.name = c.arguments[n-2], c.arguments[n-1]
			c.arguments = c.arguments[:n-2]
		} else if n >= 2 && k+1 == len(starts) && isAddress(c.arguments[n-1]) { // the empty name of the last entry was taken for the end
			c.client, c.arguments = c.arguments[n-1], c.arguments[:n-1]
		}
		all = append(all, c)
	}
	return all
}

// isAddress knows "10.0.0.7:51234", "[::1]:51234" and "/run/redis.sock:0".
func isAddress(s string) bool {
	i := strings.LastIndexByte(s, ':')
	if i <= 0 || strings.ContainsAny(s[:i], " \t") && s[0] != '/' {
		return false
	}
	_, err := strconv.ParseUint(s[i+1:], 10, 16)
	return err == nil && (s[0] == '/' || strings.ContainsAny(s[:i], ".:") || s[0] == '[')
}
