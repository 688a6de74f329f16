package exchanges

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// question is the question of a DNS message (RFC 1035, section 4.1.2).
type question struct {
	name string // in lower case, with dots and without the last one
	kind uint16
}

// kinds are the names of record types that clients ask for.
// Source: https://www.iana.org/assignments/dns-parameters.
var kinds = map[uint16]string{1: "A", 2: "NS", 5: "CNAME", 6: "SOA", 12: "PTR", 15: "MX", 16: "TXT", 28: "AAAA", 33: "SRV", 35: "NAPTR", 64: "SVCB", 65: "HTTPS", 255: "ANY", 257: "CAA"}

// appendTo appends the record type and the registrable domain of the name.
func (q *question) appendTo(out []byte) []byte {
	if kind, known := kinds[q.kind]; known {
		out = append(out, kind...)
	} else {
		out = strconv.AppendUint(append(out, "TYPE"...), uint64(q.kind), 10)
	}
	if zone := zoneOf(q.name); zone != "" {
		out = append(append(out, ' '), zone...)
	}
	return out
}

// readQuery reads a query: a header that asks and one question.
func readQuery(b []byte) (id uint16, q question, ok bool) {
	if len(b) < leastQuestion {
		return 0, q, false
	}
	half := func(at int) uint16 { return binary.BigEndian.Uint16(b[at:]) }
	if half(2)&^flagsOfQuery != 0 || half(4) != 1 || half(6) != 0 || half(8) != 0 || half(10) > mostSections {
		return 0, q, false
	}
	q, ok = readQuestion(b)
	return half(0), q, ok
}

// reply is the part of an answer before its records.
type reply struct {
	id        uint16
	question  question
	asks      bool // it has a question; answers to misunderstood queries may have none
	truncated bool
	code      uint16 // RCODE
}

// readReply reads an answer up to its question.
func readReply(b []byte) (r reply, ok bool) {
	if len(b) < dnsHeader {
		return r, false
	}
	flags, questions := binary.BigEndian.Uint16(b[2:]), binary.BigEndian.Uint16(b[4:])
	if flags&(flagAnswer|opcode) != flagAnswer || questions > 1 {
		return r, false
	}
	r = reply{id: binary.BigEndian.Uint16(b), truncated: flags&flagTrimmed != 0, code: flags & 0xf}
	if questions == 1 {
		r.question, r.asks = readQuestion(b)
		return r, r.asks
	}
	return r, true
}

// results are the results of a query.
var results = [...]string{0: "ok", 1: "failed", 2: "servfail", 3: "nxdomain", 5: "refused"} // by RCODE

// resultWord returns the result of the query in one word.
func (r *reply) resultWord() string {
	switch {
	case r.truncated:
		return "truncated"
	case int(r.code) < len(results) && results[r.code] != "":
		return results[r.code]
	}
	return "failed"
}

// readQuestion reads the question after a header. It refuses names with characters that host names do not have.
func readQuestion(b []byte) (q question, ok bool) {
	var name [256]byte
	n := 0
	for at := dnsHeader; at < len(b); {
		length := int(b[at])
		at++
		if length == 0 {
			if at+4 > len(b) {
				return q, false
			}
			switch binary.BigEndian.Uint16(b[at+2:]) & 0x7fff { // the class; mDNS adds a bit of its own
			case 1, 3, 255:
				return question{string(bytes.ToLower(name[:max(0, n-1)])), binary.BigEndian.Uint16(b[at:])}, true
			}
			return q, false
		}
		if length > 63 || at+length > len(b) || n+length+1 > len(name) {
			return q, false
		}
		for _, c := range b[at : at+length] {
			if c <= ' ' || c > '~' {
				return q, false
			}
			name[n] = c
			n++
		}
		name[n] = '.'
		n++
		at += length
	}
	return q, false
}

// zoneOf returns the registrable domain of a name: "example.com" for "user-4711.api.example.com". Below a suffix under which a company gives
// names to its customers, it returns the company's own domain. For a name without a registrable domain, and for addresses, it returns "" or a
// suffix that all such names have.
func zoneOf(name string) string {
	for _, c := range []byte(name) {
		if plain := c == '.' || c == '-' || c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z'; !plain {
			return ""
		}
	}
	for _, of := range []string{"in-addr.arpa", "ip6.arpa"} {
		if strings.HasSuffix(name, "."+of) {
			return of
		}
	}
	if last := name[strings.LastIndexByte(name, '.')+1:]; strings.Trim(last, "0123456789") == "" {
		return ""
	}
	suffix, public := publicsuffix.PublicSuffix(name)
	for !public && strings.Contains(suffix, ".") { // the suffix belongs to a company
		name = suffix
		_, rest, _ := strings.Cut(suffix, ".")
		suffix, public = publicsuffix.PublicSuffix(rest)
	}
	zone, err := publicsuffix.EffectiveTLDPlusOne(name)
	switch {
	case err == nil:
		return zone
	case strings.Contains(name, ".") && name != suffix:
		return name
	}
	return ""
}

// askedOverTCP reads the query at the beginning of a transfer, after its length (RFC 1035, section 4.2.2).
func askedOverTCP(head []byte) (q question, ok bool) {
	if len(head) < 2+leastQuestion {
		return q, false
	}
	if n := binary.BigEndian.Uint16(head); n < leastQuestion || n > mostQuery || head[4]&(flagRecurse>>8) == 0 {
		return q, false
	}
	_, q, ok = readQuery(head[2:])
	return q, ok
}

func isOverTCP(head []byte) bool {
	_, ok := askedOverTCP(head)
	return ok
}
