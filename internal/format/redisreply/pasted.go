package redisreply

import (
	"slices"
	"strings"
)

// pasted reads entries of SLOWLOG GET as users paste them: without the number before an entry, with another indentation than
// redis-cli's, or from the middle of an answer. [tree] reads by columns; this reader goes by the content of
// lines: an entry is id, time, duration, arguments and, from Redis 4 on, the client's address and name.
type pasted struct {
	calls []call
	field int // the field of the newest entry that was read last
}

// parseLine reads a line, and says whether it continues the entries.
func (x *pasted) parseLine(s string, at int64) bool {
	if strings.TrimSpace(s) == "" {
		return x.field > 0
	}
	numbers, rest := parseIndexes(s)
	if len(numbers) == 0 {
		return false
	}
	var v node
	if !v.parseValue(rest) {
		return false
	}
	last := numbers[len(numbers)-1]
	if v.kind == integer && last == 1 && len(numbers) <= 2 {
		if len(x.calls) == mostSlow {
			return false
		}
		x.calls, x.field = append(x.calls, call{id: v.whole, line: at}), 1
		return true
	}
	if x.field == 0 {
		return false
	}
	c := &x.calls[len(x.calls)-1]
	switch alone := len(numbers) == 1; {
	case x.field == 1 && alone && last == 2 && v.kind == integer:
		c.at = v.whole
	case x.field == 2 && alone && last == 3 && v.kind == integer:
		c.took = v.whole
	case x.field == 3 && len(numbers) == 2 && numbers[0] == 4 && last == 1 && v.kind == text:
		c.arguments = append(c.arguments, v.text)
	case x.field == 4 && alone && last == len(c.arguments)+1 && v.kind == text && !(last == 5 && isAddress(v.text)):
		c.arguments = append(c.arguments, v.text)
		return true
	case x.field == 4 && alone && last == 5 && v.kind == text:
		c.client = v.text
	case x.field == 5 && alone && last == 6 && v.kind == text:
		c.name = v.text
	default:
		return false
	}
	x.field++
	return true
}

// completeCalls returns the entries whose command was read. The last entry may be cut, and lines may only look like an entry.
func (x *pasted) completeCalls() []call {
	return slices.DeleteFunc(x.calls, func(c call) bool { return len(c.arguments) == 0 || !isPlausible(c) })
}

// parseIndexes reads the numbers that a line of a list begins with, and returns what follows them.
func parseIndexes(s string) (numbers []int, rest string) {
	at := 0
	for len(numbers) < 3 {
		number, _, next, ok := parseIndex(s, at)
		if !ok {
			break
		}
		numbers, at = append(numbers, number), next
	}
	return numbers, strings.TrimSpace(s[at:])
}

// beginsEntry says whether a line may be the first of an entry: its id.
func beginsEntry(s string) bool {
	var x pasted
	return x.parseLine(s, 0) && x.field == 1
}

// hasEntry says whether lines begin with an entry of a slow log.
func hasEntry(lines []string) bool {
	var x pasted
	for _, l := range lines {
		if !x.parseLine(l, 0) || len(x.calls) > 1 {
			break
		}
	}
	return len(x.calls) > 0 && len(x.calls[0].arguments) > 0 && isPlausible(x.calls[0])
}

// isPlausible says whether an entry has a time since 1973 and a duration of days at most.
func isPlausible(c call) bool { return c.at > 1e8 && c.at < 4e9 && c.took >= 0 && c.took < 1e12 }
