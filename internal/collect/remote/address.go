// Package remote records on another host, over the ssh people have: it copies the
// program there, has it record, and brings the capture back while it grows.
//
// Its opinion: nothing is installed, and nothing stays. One connection carries all of it,
// so that who is asked for a password is asked once, and so that its end is seen on the
// other side: there a shell waits for the program and removes its folder however that
// ends, and the program ends when its standard input does, or when nothing was heard for
// [Silence]. The system's ssh is run, with people's configuration, agents and jump hosts.
// The other host is not trusted: what it says is bounded and printed as text.
package remote

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
)

// Address is a host as ssh is told of it.
type Address struct {
	User, Host, Port string // User and Port may be empty: as ssh is configured
}

// scheme is how an address of a target on another host begins.
const scheme = "ssh://"

// Parse reads ssh://[USER@]HOST[:PORT]/TARGET; target is as it would be typed there, "" if
// none was given. Is says whether it is such an address at all.
func Parse(arg string) (a Address, target string, is bool, err error) {
	rest, is := strings.CutPrefix(arg, scheme)
	if !is {
		return a, "", false, nil
	}
	authority, target, _ := strings.Cut(rest, "/")
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		a.User, authority = authority[:at], authority[at+1:]
	}
	if strings.Contains(a.User, ":") {
		return Address{}, "", true, errors.New(scheme + "…: a password does not belong into an address: use a key, or let ssh ask for it")
	}
	a.Host = authority
	if host, port, err := net.SplitHostPort(authority); err == nil {
		a.Host, a.Port = host, port
	} else if strings.HasPrefix(authority, "[") && strings.HasSuffix(authority, "]") {
		a.Host = authority[1 : len(authority)-1]
	}
	if n, err := strconv.ParseUint(a.Port, 10, 16); a.Port != "" && (err != nil || n == 0) {
		return a, target, true, fmt.Errorf("%s: invalid port %s: ports are 1 to 65535", arg, a.Port)
	}
	bad := func(word string) bool {
		return strings.HasPrefix(word, "-") || strings.ContainsFunc(word, func(r rune) bool { return r <= ' ' || r == 0x7f })
	}
	if a.Host == "" || bad(a.Host) || bad(a.User) {
		return a, target, true, fmt.Errorf("%s: the address has no host: give ssh://HOST/PID or ssh://USER@HOST:PORT/NAME", arg)
	}
	return a, target, true, nil
}

// String is the address without a target.
func (a Address) String() string {
	s := scheme
	if a.User != "" {
		s += a.User + "@"
	}
	switch {
	case a.Port != "":
		return s + net.JoinHostPort(a.Host, a.Port)
	case strings.Contains(a.Host, ":"):
		return s + "[" + a.Host + "]"
	}
	return s + a.Host
}
