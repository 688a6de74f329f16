package redisreply

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
)

// slowlog is what SLOWLOG GET answered so far.
type slowlog struct {
	calls  []call
	asked  bool
	newest int64 // id of the newest that is known, -1 none
	from   int64 // ns: of the first answer and the last
	until  int64
	line   int64
	lost   float64
}

// call is an entry.
type call struct {
	id, at, took int64 // at: seconds since the epoch, when it ended; took: µs
	arguments    []string
	client, name string
	line         int64

	low, high int64 // ns: between which it ended
}

// own is the recorder's name for its connections: its own commands are left out.
const own = "unstall"

// takeReply takes a numbered answer.
func (s *slowlog) takeReply(p *parser, n *node) bool {
	var all []call
	for _, x := range n.items {
		if !x.hasKinds(integer, integer, integer, list) {
			p.countUnparsed(p.began)
			continue
		}
		c := call{id: x.items[0].whole, at: x.items[1].whole, took: x.items[2].whole, arguments: x.items[3].itemTexts(), line: p.began}
		if x.hasKinds(integer, integer, integer, list, text, text) {
			c.client, c.name = x.items[4].text, x.items[5].text
		}
		all = append(all, c)
	}
	s.addCalls(p, all)
	return true
}

// addCalls adds the new ones of entries that come newest first.
func (s *slowlog) addCalls(p *parser, all []call) {
	now := p.now.at
	if !s.asked {
		s.newest, s.line = -1, p.began
	}
	before := s.until
	if now > 0 {
		if s.from == 0 {
			s.from = now
		}
		s.until = now
	}
	if len(all) > 0 && all[0].id < s.newest { // the server began anew
		s.newest, before = -1, 0
	}
	oldest := int64(-1)
	newest := s.newest
	for _, c := range slices.Backward(all) {
		if c.id <= s.newest || c.took < 0 || c.at < 1e8 || c.at > 4e9 || c.took > 1e12 {
			continue
		}
		if oldest < 0 {
			oldest = c.id
		}
		newest = max(newest, c.id)
		c.low = c.at*1e9 + p.skew
		c.high = c.low + 1e9
		if now > c.low && now < c.high {
			c.high = now
		}
		if s.asked && before > c.low && before < c.high {
			c.low = before
		}
		switch {
		case c.name == own:
		case len(s.calls) == mostSlow:
			p.over++
		default:
			s.calls = append(s.calls, c)
		}
	}
	if s.asked && s.newest >= 0 && oldest > s.newest+1 {
		s.lost += float64(oldest - s.newest - 1)
	}
	s.newest, s.asked = newest, true
}

// emitCalls writes the calls.
func (s *slowlog) emitCalls(b *evidence.Builder, id evidence.SubjectID) {
	if !s.asked {
		return
	}
	from, until := s.from, s.until
	sorting.Short(s.calls, func(x, y call) int { return cmp.Compare(x.high, y.high) })
	for _, c := range s.calls {
		took := c.took * 1e3
		name, count, size := c.nameAndSize()
		extra := []evidence.Extra{{Key: evidence.Arguments, Value: float64(count)}, {Key: evidence.WaitedWithin, Value: float64(c.high - c.low + took)}}
		if size >= 0 {
			extra = append(extra, evidence.Extra{Key: evidence.ArgumentBytes, Value: float64(size)})
		}
		if c.client != "" {
			extra = append(extra, evidence.Extra{Key: evidence.ClientAddress, Value: float64(b.Name(addressOf(c.client)))})
		}
		b.Interval(evidence.Interval{Subject: id, Lane: evidence.AllLanes, Kind: evidence.Command, Start: c.high - took, End: c.high, Cause: b.Name(name), Origin: b.Origin(c.line), Extra: extra})
		if s.from == 0 && (from == 0 || c.low < from) {
			from = c.low
		}
		if s.from == 0 {
			until = max(until, c.high)
		}
	}
	if from == 0 {
		from = max(1, b.Modified()-1)
	}
	b.Cover(evidence.Coverage{Subject: id, Kind: evidence.CoverRedisSlow, From: from, Until: max(until, from+1), Lost: int64(s.lost), Origin: b.Origin(s.line)})
	if s.lost > 0 {
		b.FactAt(id, evidence.FactRedisSlowLost, strconv.FormatFloat(s.lost, 'f', 0, 64), s.lost, s.line)
	}
}

// nameAndSize returns the name of a call, how many arguments it had, and their bytes; -1 unknown.
// Of the arguments only the subcommand of a container and the script or function that ran are
// kept.
func (c *call) nameAndSize() (name string, arguments int, size int64) {
	if len(c.arguments) == 0 {
		return "unknown", 0, -1
	}
	name = cleanName(strings.ToUpper(c.arguments[0]))
	rest := c.arguments[1:]
	if n, ok := parseMore(lastOf(rest), " more arguments)"); ok { // src/slowlog.c: SLOWLOG_ENTRY_MAX_ARGC
		rest = rest[:len(rest)-1]
		arguments = int(n)
	}
	arguments += len(rest)
	for _, a := range rest {
		size += sizeOf(a)
	}
	if len(rest) > 0 {
		switch {
		case containers[name]:
			name += " " + cleanName(strings.ToUpper(rest[0]))
		case name == "EVALSHA" || name == "EVALSHA_RO":
			name += " " + cleanName(rest[0][:min(len(rest[0]), 8)])
		case name == "FCALL" || name == "FCALL_RO":
			name += " " + cleanName(rest[0])
		}
	}
	return name, arguments, size
}

// cleanName returns a name, "unknown" if it has characters that no name has.
func cleanName(s string) string {
	s = s[:min(len(s), mostWord)]
	for i := range len(s) {
		c := s[i]
		if !(c == '_' || c == '-' || c == '.' || c == '|' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z') {
			return "unknown"
		}
	}
	return s
}

func lastOf(s []string) string {
	if len(s) == 0 {
		return ""
	}
	return s[len(s)-1]
}

// sizeOf returns the length of an argument: the server cuts it at 128 bytes and says how many more there are,
// and our recorder keeps only the length.
func sizeOf(s string) int64 {
	if text, ok := strings.CutSuffix(s, " bytes)"); ok && strings.HasPrefix(text, "(") {
		if n, err := strconv.ParseInt(text[1:], 10, 64); err == nil && n >= 0 && n < 1<<40 {
			return n
		}
	}
	if n, ok := parseMore(s, " more bytes)"); ok {
		return n + int64(strings.LastIndex(s, "... ("))
	}
	return int64(len(s))
}

// parseMore reads the number at the end of "abc... (4711 more bytes)".
func parseMore(s, what string) (int64, bool) {
	i := strings.LastIndex(s, "... (")
	rest, ok := strings.CutSuffix(s, what)
	if i < 0 || !ok || i+5 > len(rest) {
		return 0, false
	}
	n, err := strconv.ParseInt(rest[i+5:], 10, 64)
	return n, err == nil && n >= 0 && n < 1<<40
}

// addressOf returns a client's address, clean.
func addressOf(s string) string {
	return strings.ToValidUTF8(s[:min(len(s), 128)], "?")
}
