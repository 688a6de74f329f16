package redact

import (
	"bytes"
	"encoding/base64"
	"strings"
)

// kinds are the secrets with a known prefix.
var kinds = []struct {
	prefix string // its last byte is one of starts
	least  int    // the least number of bytes that follow
	of     func(byte) bool
}{
	{"AKIA", 16, isUpperOrDigit}, // AWS access keys
	{"ASIA", 16, isUpperOrDigit},
	{"ghp_", 20, isAlnum}, // GitHub
	{"gho_", 20, isAlnum},
	{"ghu_", 20, isAlnum},
	{"ghs_", 20, isAlnum},
	{"ghr_", 20, isAlnum},
	{"github_pat_", 20, isWordByte},
	{"glpat-", 16, isWordByte}, // GitLab
	{"xoxa-", 10, isWordByte},  // Slack
	{"xoxb-", 10, isWordByte},
	{"xoxp-", 10, isWordByte},
	{"xoxs-", 10, isWordByte},
	{"sk_live_", 16, isAlnum}, // Stripe
	{"rk_live_", 16, isAlnum},
	{"sk-ant-", 16, isWordByte},
	{"sk-proj-", 16, isWordByte},
}

func isUpperOrDigit(c byte) bool { return 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' }
func isAlnum(c byte) bool        { return isUpperOrDigit(c) || 'a' <= c && c <= 'z' }
func isWordByte(c byte) bool     { return isAlnum(c) || c == '_' || c == '-' }
func isDottedByte(c byte) bool {
	return isWordByte(c) || c == '.' || c == '='
}

func runLength(b []byte, of func(byte) bool) (n int) {
	for n < len(b) && of(b[n]) {
		n++
	}
	return n
}

// hideKnown hides a secret with a known prefix; i is at the prefix's last byte.
func (s *scanner) hideKnown(i int) int {
	b := s.in
	if b[i] == 'J' {
		return s.hideWebToken(i)
	}
	for _, k := range kinds {
		if k.prefix[len(k.prefix)-1] != b[i] || !hasSuffix(b[s.copied:i+1], k.prefix) {
			continue
		}
		from := i + 1 - len(k.prefix)
		if n := runLength(b[i+1:], k.of); n >= k.least && (from == s.copied || !isAlnum(b[from-1])) {
			return s.hideRange(from, i+1+n)
		}
	}
	return i
}

// hideWebToken hides eyJ….….…: JSON in base64 followed by a dot and more.
func (s *scanner) hideWebToken(i int) int {
	b := s.in
	if !hasSuffix(b[s.copied:i+1], "eyJ") {
		return i
	}
	from := i - 2
	if from > s.copied && isAlnum(b[from-1]) {
		return i
	}
	token := b[from : from+runLength(b[from:], isDottedByte)]
	dot := bytes.IndexByte(token, '.')
	if dot < 8 || len(token)-dot < 8 {
		return i
	}
	return s.hideRange(from, from+len(token))
}

// hideScheme hides the token of "Bearer …" or "Basic …" without a preceding Authorization.
func (s *scanner) hideScheme(i int) int {
	b := s.in
	if i > s.copied && isAlnum(b[i-1]) {
		return i
	}
	switch {
	case hasPrefix(b[i:], "Bearer "):
		j := i + len("Bearer ")
		token := b[j : j+runLength(b[j:], isBearerByte)]
		if len(token) >= 20 || len(token) >= 8 && bytes.ContainsAny(token, "0123456789") {
			return s.hideRange(j, j+len(token))
		}
	case hasPrefix(b[i:], "Basic "):
		j := i + len("Basic ")
		token := b[j : j+runLength(b[j:], isBearerByte)]
		// The scheme is an English word, too.
		if plain, err := base64.StdEncoding.DecodeString(string(token)); err == nil && bytes.IndexByte(plain, ':') >= 0 {
			return s.hideRange(j, j+len(token))
		}
	}
	return i
}

func isBearerByte(c byte) bool { return isDottedByte(c) || c == '~' || c == '+' || c == '/' }

// hideUserinfo hides the password, or the token, in the user info after "scheme://", at i: user:password@host.
func (s *scanner) hideUserinfo(i int) int {
	b := s.in
	end, at, colon := i, -1, -1
	for ; end < len(b) && strings.IndexByte("/?# \t\"'<>\\", b[end]) < 0; end++ {
		switch {
		case b[end] == '@':
			at = end
		case b[end] == ':' && colon < 0:
			colon = end
		}
	}
	if at < 0 && colon >= 0 && end < len(b) && b[end] == '/' && b[i] != '[' && !isDigits(b[colon+1:end]) {
		// Not a port: a password with an unescaped slash.
		stop := bytes.IndexAny(b[end:], " \t\"'<>\\")
		if stop < 0 {
			stop = len(b) - end
		}
		if k := bytes.LastIndexByte(b[end:end+stop], '@'); k >= 0 {
			at = end + k
		}
	}
	switch {
	case at < 0:
		return i
	case colon >= 0 && colon < at:
		return s.hideRange(colon+1, at)
	case at-i >= 20: // a token in place of a user
		return s.hideRange(i, at)
	}
	return i
}

// hideDataSource hides the password of user:password@tcp(host:port), the form of Go's MySQL driver.
func (s *scanner) hideDataSource(i int) int {
	b := s.in
	if !hasPrefix(b[i:], "@tcp(") && !hasPrefix(b[i:], "@unix(") {
		return i
	}
	k := i
	for k > s.copied && b[k-1] > ' ' && b[k-1] != '"' && b[k-1] != '\'' && b[k-1] != '=' {
		k--
	}
	if colon := bytes.IndexByte(b[k:i], ':'); colon >= 0 {
		s.hideRange(k+colon+1, i)
	}
	return i
}

// hidePrivateKey hides what follows a PEM header on the same line, with escaped line ends. Certificates are public.
func (s *scanner) hidePrivateKey(i int) int {
	b := s.in
	header := b[i:min(len(b), i+64)]
	n := bytes.Index(header, []byte(keyHeader))
	if n < 0 {
		return i
	}
	from := i + n + len(keyHeader)
	end := len(b)
	for _, stop := range []string{"-----END", `"`} {
		if k := bytes.Index(b[from:end], []byte(stop)); k >= 0 {
			end = from + k
		}
	}
	if end-from < 8 { // an escaped line end: the rest follows on other lines
		return end
	}
	return s.hideRange(from, end)
}

const keyHeader = "PRIVATE KEY-----"
