package main

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/unstall/unstall/internal/collect/probe/reach"
	"github.com/unstall/unstall/internal/serve/capturestore"
	pages "github.com/unstall/unstall/internal/serve/web"
)

type serveCommand struct {
	Dir         string   `arg:"" optional:"" default:"." help:"The directory with the captures (default: this one)."`
	Listen      string   `default:"127.0.0.1:7788" placeholder:"HOST:PORT" help:"Where to listen. Other addresses than loopback need a token, which the printed address contains."`
	Token       string   `env:"UNSTALL_TOKEN" placeholder:"TEXT" help:"The required token (default: a new random one; none on loopback, unless root serves)."`
	Name        []string `sep:"none" placeholder:"HOST" help:"A host name that it accepts, besides localhost and addresses; may be repeated."`
	AllowRecord bool     `negatable:"" default:"true" help:"Allow pages to start recordings of processes of this host."`
}

// Run serves until it is interrupted.
func (c *serveCommand) Run(s *session) error {
	host, port, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return fmt.Errorf("--listen %s: give an address and a port, such as 127.0.0.1:7788", c.Listen)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("--listen %s: invalid port %s: ports are 0 to 65535", c.Listen, port)
	}
	token := c.Token
	if token == "" && (!reach.Loopback(host) || os.Geteuid() == 0) { // other users of a host also reach its loopback
		token = pages.Token()
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	context.AfterFunc(ctx, stop)
	captures, err := capturestore.Open(c.Dir, programVersion())
	if err != nil {
		s.reportError(unreadable, err)
		return nil
	}
	defer captures.Close()
	l, err := net.Listen("tcp", c.Listen)
	if err != nil {
		s.reportError(unreadable, fmt.Errorf("%w: choose another address with --listen", err))
		return nil
	}
	opt := pages.Options{Version: programVersion(), Token: token, Names: c.Name, List: listAllProcesses}
	if c.AllowRecord {
		opt.Record = (&recordQueue{dir: c.Dir}).recordTarget
	}
	beNice()
	server := pages.New(captures, opt)
	at := url.URL{Scheme: "http", Host: l.Addr().String(), Path: "/"}
	if a, err := netip.ParseAddrPort(at.Host); err == nil && a.Addr().IsUnspecified() {
		name := "localhost"
		if len(c.Name) > 0 {
			name = c.Name[0]
		}
		at.Host = net.JoinHostPort(name, strconv.Itoa(int(a.Port())))
	}
	if token != "" {
		at.RawQuery = url.Values{"token": {token}}.Encode()
	}
	s.printNote("serving %s at %s (Ctrl-C ends it)", c.Dir, at.String())
	err = server.Serve(ctx, l)
	server.Close()
	if err != nil {
		s.reportError(unreadable, err)
	}
	return nil
}
