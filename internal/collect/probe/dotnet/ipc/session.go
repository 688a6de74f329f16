package ipc

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"
	"unicode/utf16"
)

// Rundown is the keyword of what a session tells at its end: loaded modules and the names
// of all methods that have code. By default dotnet-trace asks for more, such as which
// address is which line: a third more events.
const Rundown = 0x139

// Provider is a source of events.
type Provider struct {
	Name     string
	Keywords uint64
	Level    uint32 // 1 critical … 4 informational, 5 verbose
	Args     string // "EventCounterIntervalSec=1"

	// Only are the ids of the events wanted; nil: all. Runtimes before .NET 10 send
	// all of them whatever it says.
	Only []uint32
}

// Config is what a session is to deliver.
type Config struct {
	Providers []Provider

	// BufferMB is how much of the target's memory may hold events not yet read;
	// more are lost. It is taken as needed. > 0.
	BufferMB uint32

	// Rundown is the keyword of what is told at the session's end, 0: nothing. A
	// runtime before .NET 9 tells all or nothing, one before 3.1 all.
	Rundown uint64

	// NoStacks leaves the stacks of events out, which makes them cheaper. Runtimes
	// before .NET 9 take them all the same.
	NoStacks bool
}

// Session is a stream of events in the nettrace format, which ends with io.EOF
// when the session has been stopped or the process has ended.
type Session struct {
	client *Client
	conn   *net.UnixConn
	id     uint64
	beat   *beat // of its counters, nil: they do not matter

	Version int // of CollectTracing that was understood, 1 to 5
}

// Start begins a session. It ends when it is stopped, or when the connection is
// closed in whatever way. Once asked for, it is waited for, also if the context ends: of a
// connection that is closed before the answer has come nobody can stop the session, and where the next
// one began meanwhile, .NET Core 3.1.2 crashed in one of three tries on a busy host.
func (c *Client) Start(ctx context.Context, cfg Config) (*Session, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ctx = context.WithoutCancel(ctx)
	hangs := false
	if cfg.hasCounters() {
		var err error
		if hangs, err = c.mayHang(ctx); err != nil {
			return nil, err
		}
	}
	newest := int32(len(collectTracing))
	if known := c.collect.Load(); known > 0 {
		newest = known
	}
	var refused error // of the last form tried
	for v := newest; v > 0; v-- {
		s, err := c.startVersion(ctx, cfg, int(v))
		var code Code
		if errors.As(err, &code) && code.allowsOlderForm() {
			refused = err
			continue
		}
		if err == nil {
			c.collect.Store(v)
			if hangs {
				s.beat = newBeat()
			}
		}
		return s, err
	}
	return nil, newProblem(c.pid, "it supports no version of CollectTracing", "update the runtime to .NET Core 3.1 or later", refused)
}

func (c *Client) startVersion(ctx context.Context, cfg Config, version int) (*Session, error) {
	conn, err := c.connect(ctx)
	if err != nil {
		return nil, err
	}
	form := collectTracing[version-1]
	answer, err := c.sendCommand(ctx, conn, form.command, form.encode(cfg), patience)
	if err == nil && len(answer) < 8 {
		err = newProblem(c.pid, fmt.Sprintf("CollectTracing %#04x returned no session id", form.command), "try again", ErrProtocol)
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	_ = conn.SetDeadline(time.Time{})
	return &Session{client: c, conn: conn, id: binary.LittleEndian.Uint64(answer), Version: version}, nil
}

// Read reads the stream. A connection that breaks off as the process ends is the
// end of the stream; what came may be cut anywhere.
func (s *Session) Read(p []byte) (int, error) {
	n, err := s.conn.Read(p)
	if errors.Is(err, syscall.ECONNRESET) {
		err = io.EOF
	}
	if s.beat != nil && (n > 0 || !errors.Is(err, os.ErrDeadlineExceeded)) {
		s.beat.noteCounters(p[:n], err)
	}
	return n, err
}

// SetReadDeadline bounds [Session.Read], which then fails with
// os.ErrDeadlineExceeded.
func (s *Session) SetReadDeadline(t time.Time) error { return s.conn.SetReadDeadline(t) }

// Stop asks the runtime to end the session. What it then still tells, such as the
// rundown, comes by Read, which somebody must call meanwhile, up to io.EOF: the
// answer comes only after that. Stopping what has ended is no error. Before .NET 6 a
// session with counters is stopped between them, up to 1.5 s later.
func (s *Session) Stop(ctx context.Context, within time.Duration) error {
	if s.beat != nil {
		s.beat.waitQuiet(ctx)
	}
	id := binary.LittleEndian.AppendUint64(nil, s.id)
	_, err := s.client.runCommand(ctx, 0x0201, id, within)
	var code Code
	if errors.As(err, &code) || errors.Is(err, ErrGone) {
		return nil // there is none of this id any more
	}
	return err
}

// Close closes the connection, by which the runtime ends the session if it still
// goes on, without a rundown: when it next has something to send.
func (s *Session) Close() error { return s.conn.Close() }

// collectTracing are the forms of CollectTracing, oldest first.
var collectTracing = []struct {
	command uint16
	encode  func(Config) []byte
}{
	{0x0202, func(c Config) []byte { return c.appendProviders(c.appendHead(nil), false) }},
	{0x0203, func(c Config) []byte { return c.appendProviders(appendFlag(c.appendHead(nil), c.Rundown != 0), false) }},
	{0x0204, func(c Config) []byte {
		return c.appendProviders(appendFlag(appendFlag(c.appendHead(nil), c.Rundown != 0), !c.NoStacks), false)
	}},
	{0x0205, func(c Config) []byte { return c.appendProviders(c.appendRundown(c.appendHead(nil)), false) }},
	{0x0206, func(c Config) []byte {
		stream := binary.LittleEndian.AppendUint32(nil, 0) // 1: user_events
		return c.appendProviders(c.appendRundown(c.appendHead(stream)), true)
	}},
}

const nettrace = 1 // 0 is netperf

func (c Config) appendHead(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, c.BufferMB)
	return binary.LittleEndian.AppendUint32(b, nettrace)
}

func (c Config) appendRundown(b []byte) []byte {
	return appendFlag(binary.LittleEndian.AppendUint64(b, c.Rundown), !c.NoStacks)
}

func (c Config) appendProviders(b []byte, filtered bool) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(c.Providers)))
	for _, p := range c.Providers {
		b = binary.LittleEndian.AppendUint64(b, p.Keywords)
		b = binary.LittleEndian.AppendUint32(b, p.Level)
		b = appendText(appendText(b, p.Name), p.Args)
		if !filtered {
			continue
		}
		b = appendFlag(b, p.Only != nil) // without: none is left out
		b = binary.LittleEndian.AppendUint32(b, uint32(len(p.Only)))
		for _, id := range p.Only {
			b = binary.LittleEndian.AppendUint32(b, id)
		}
	}
	return b
}

func appendFlag(b []byte, on bool) []byte {
	if on {
		return append(b, 1)
	}
	return append(b, 0)
}

// appendText is the reverse of decoder.readText; nothing has no zero at its end.
func appendText(b []byte, s string) []byte {
	if s == "" {
		return binary.LittleEndian.AppendUint32(b, 0)
	}
	units := append(utf16.Encode([]rune(s)), 0)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(units)))
	for _, u := range units {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return b
}
