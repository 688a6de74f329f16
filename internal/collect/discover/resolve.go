package discover

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/collect/discover/container"
)

// ErrUse is wrapped by errors about text that can never name a target, or that could name several. The user must type something else.
// It adds nothing to their text.
var ErrUse = errors.New("")

// usageError makes an error that wraps ErrUse.
func usageError(format string, args ...any) error {
	return fmt.Errorf(format+"%w", append(args, ErrUse)...)
}

// Split divides what a user typed into live targets, resolved, and names of files, for [Files]. A name that exists as a file is a
// file, whatever else has that name, and so is a name that looks like a path. Only in the folder of a program does the program's name
// mean the process. Errors are one line each.
func Split(ctx context.Context, args []string, known []Recogniser) (live []Target, files []string, errs []error) {
	for _, arg := range splitNames(args) {
		file := isFile(arg)
		if file && !isProgram(arg) {
			files = append(files, arg)
			continue
		}
		t, err := Resolve(ctx, arg, known)
		if file && err != nil && !errors.Is(err, ErrUse) { // there is no such process either
			files = append(files, arg)
			continue
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		same := func(other Target) bool { return t.PID != 0 && other.PID == t.PID }
		if i := slices.IndexFunc(live, same); i >= 0 { // named twice, for example by its PID and its address
			if live[i].URL == nil {
				live[i].URL = t.URL
			}
			continue
		}
		live = append(live, t)
	}
	return live, files, errs
}

// splitNames splits names given together in one argument: 'nginx|php-fpm|redis'.
func splitNames(args []string) (all []string) {
	for _, arg := range args {
		names := strings.Split(arg, "|")
		if len(names) < 2 || slices.Contains(names, "") || isFile(arg) {
			names = []string{arg}
		}
		all = append(all, names...)
	}
	return all
}

// LikeFile says whether a name is a file's: one that exists, or one that could mean nothing else.
func LikeFile(name string) bool { return isFile(name) }

func isFile(arg string) bool {
	if arg == "-" {
		return true
	}
	_, err := os.Stat(arg)
	if !errors.Is(err, fs.ErrNotExist) {
		return true
	}
	if strings.Contains(arg, "://") || isDigits(arg) {
		return false
	}
	if _, is, _ := container.Parse(arg); is {
		return false
	}
	if _, _, ok := hostPort(arg); ok {
		return false
	}
	// The word may be a process's name, or the name of a missing file.
	return strings.ContainsAny(arg, `/\`) || strings.HasPrefix(arg, ".") || endsLikeFile(arg)
}

// isProgram says whether a bare name is that of an ELF program, which is never evidence.
func isProgram(arg string) bool {
	if strings.ContainsAny(arg, `/\`) {
		return false
	}
	if fi, err := os.Stat(arg); err != nil || !fi.Mode().IsRegular() { // opening a pipe waits, and reading it takes what a format needs
		return false
	}
	f, err := os.Open(arg)
	if err != nil {
		return false
	}
	defer f.Close()
	magic := make([]byte, 4)
	_, err = io.ReadFull(f, magic)
	return err == nil && string(magic) == "\x7fELF"
}

// endsLikeFile says whether a name ends as files of a service usually do and process names hardly ever do.
func endsLikeFile(name string) bool {
	_, extension, ok := cutLast(name, '.')
	switch strings.ToLower(extension) {
	case "log", "txt", "out", "gz", "zst", "bz2", "xz", "json", "csv", "pb", "pprof", "prof", "trace", "jfr", "unstall", "nettrace", "html", "md":
		return ok
	}
	return false
}

// Resolve finds the target for a PID, a process name, an address ("host:port", ":6060"), a URL (http, redis, unix), or a container or
// pod as [container.Parse] reads it. For an address of this machine it looks for the process that listens there, so that both can be
// read. Without such a process the target has a URL and no PID. It connects to nothing, except in the one case in the package's
// comment.
func Resolve(ctx context.Context, arg string, known []Recogniser) (Target, error) {
	var t Target
	var err error
	if q, is, wrong := container.Parse(arg); wrong != nil {
		err = usageError("%w", wrong)
	} else if is {
		t, err = resolveContainer(ctx, arg, q, known)
	} else if host, port, ok := hostPort(arg); ok {
		t, err = resolveURL(ctx, "http://"+net.JoinHostPort(host, port), known)
	} else if strings.Contains(arg, "://") {
		t, err = resolveURL(ctx, arg, known)
	} else {
		t, err = resolveProcess(ctx, arg, known)
	}
	t.Arg = arg
	return t, err
}

// hostPort splits "host:port", ":port" and "[::1]:port".
func hostPort(arg string) (host, port string, ok bool) {
	host, port, err := net.SplitHostPort(arg)
	if err != nil || !isDigits(port) || strings.ContainsAny(host, "/ ") {
		return "", "", false
	}
	if host == "" {
		host = "localhost"
	}
	return host, port, true
}

func resolveURL(ctx context.Context, arg string, known []Recogniser) (Target, error) {
	u, err := url.Parse(arg)
	if err != nil {
		var reason *url.Error // its text quotes the whole URL, with the password
		if errors.As(err, &reason) {
			err = reason.Err
		}
		scheme, _, _ := strings.Cut(arg, "://")
		return Target{}, usageError("%s://…: not a URL: %w: give http://host:port", scheme, err)
	}
	name := u.Redacted()
	port := u.Port()
	switch u.Scheme {
	case "http", "https":
		if port == "" {
			port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
		}
	case "redis", "rediss", "valkey", "valkeys":
		if port == "" {
			port = "6379"
		}
	case "unix":
		return resolveSocket(ctx, u, known)
	case "ssh":
		return Target{}, usageError("%s: a process of another host is for unstall ssh://HOST/PID, unstall record and unstall compare alone", name)
	default:
		return Target{}, usageError("%s: %s:// is not supported: give http://host:port, redis://host:port, docker://NAME, a process id or name, or files", name, u.Scheme)
	}
	if u.Hostname() == "" {
		return Target{}, usageError("%s: the URL has no host: give http://host:port", name)
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil || number == 0 {
		return Target{}, usageError("%s: invalid port %s: ports are 1 to 65535", name, port)
	}
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", u.Hostname())
	if err != nil {
		var reason *net.DNSError
		if errors.As(err, &reason) {
			return Target{}, fmt.Errorf("%s: the name %s has no address (%s): check the name", name, u.Hostname(), reason.Err)
		}
		return Target{}, fmt.Errorf("%s: %w: check the name", name, err)
	}
	t := Target{}
	if slices.ContainsFunc(addrs, isLocalAddress) {
		if t, err = resolveListener(ctx, addrs, uint16(number), known); err != nil {
			return Target{}, fmt.Errorf("%s: %w", name, err)
		}
	}
	t.URL = u
	t.setRuntimeByScheme(u.Scheme, known)
	return t, nil
}

// setRuntimeByScheme takes the runtime from the scheme of a URL if it is otherwise unknown.
func (t *Target) setRuntimeByScheme(scheme string, known []Recogniser) {
	for _, r := range known {
		if t.Runtime == "" && slices.Contains(r.Schemes, scheme) {
			t.Runtime, t.Traits = r.Runtime, r.Traits
		}
	}
}

// resolveSocket finds the process that listens on a UNIX socket, unix:///run/redis.sock.
func resolveSocket(ctx context.Context, u *url.URL, known []Recogniser) (Target, error) {
	if u.Host != "" || !strings.HasPrefix(u.Path, "/") {
		return Target{}, usageError("%s: the URL has no path: give unix:///run/redis.sock", u.Redacted())
	}
	if _, err := os.Stat(u.Path); err != nil {
		return Target{}, Explain(fmt.Errorf("%s: %w", u.Redacted(), errors.Unwrap(err)))
	}
	t, err := listenerAt(ctx, u.Path, known)
	if err != nil {
		return Target{}, fmt.Errorf("%s: %w", u.Redacted(), err)
	}
	t.URL = u
	t.setRuntimeByScheme(u.Scheme, known)
	return t, nil
}

// isLocalAddress says whether an address is one of this machine.
func isLocalAddress(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if a.IsLoopback() || a.IsUnspecified() {
		return true
	}
	ours, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	return slices.ContainsFunc(ours, func(n net.Addr) bool {
		p, err := netip.ParsePrefix(n.String())
		return err == nil && p.Addr().Unmap() == a
	})
}

func isDigits(s string) bool {
	return s != "" && !slices.ContainsFunc([]byte(s), func(c byte) bool { return c < '0' || c > '9' })
}

func cutLast(s string, separator byte) (before, after string, found bool) {
	i := strings.LastIndexByte(s, separator)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}
