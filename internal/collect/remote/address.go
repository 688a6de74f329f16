// Package remote records on another host over the user's ssh. It copies the program there, has it record, and brings the capture back
// while it grows.
//
// Its opinion: nothing is installed, and nothing stays. One connection carries everything, so that a password is asked for once, and so
// that the other side notices the connection's end. There a shell waits for the program and removes its folder, however the program
// ends. The program ends with its standard input, or after [Silence] without a sign of this side. The package runs the system's ssh, with
// the user's configuration, agents and jump hosts. It does not trust the other host: it bounds that host's output and prints it as text.
package remote

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
)

// Address is the address of a host as ssh takes it.
type Address struct {
	User, Host, Port string // User and Port may be empty: ssh's configuration decides
}

// scheme is the beginning of an address of a target on another host.
const scheme = "ssh://"

// Parse reads ssh://[USER@]HOST[:PORT]/TARGET. target is the target as a user would type it there, "" if none. is says whether the text
// is such an address at all.
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

// String returns the address without a target.
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
