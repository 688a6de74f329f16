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

// Rundown is the keyword of what a session writes at its end: loaded modules and the names of all methods that have code. By default
// dotnet-trace requests more, such as which address is which line, which is a third more events.
const Rundown = 0x139

// Provider is a source of events.
type Provider struct {
	Name     string
	Keywords uint64
	Level    uint32 // 1 critical … 4 informational, 5 verbose
	Args     string // "EventCounterIntervalSec=1"

	// Only are the IDs of the wanted events; nil: all. Runtimes before .NET 10 ignore it and send all events.
	Only []uint32
}

// Config says what a session delivers.
type Config struct {
	Providers []Provider

	// BufferMB is how much of the target's memory may hold unread events; further events are lost. The memory is taken when
	// needed. > 0.
	BufferMB uint32

	// Rundown is the keyword of what the session writes at its end, 0: nothing. A runtime before .NET 9 writes all or nothing, one
	// before 3.1 all.
	Rundown uint64

	// NoStacks leaves out the stacks of events, which makes events cheaper. Runtimes before .NET 9 ignore it.
	NoStacks bool
}

// Session is a stream of events in the nettrace format. It ends with io.EOF when the session is stopped or the process has ended.
type Session struct {
	client *Client
	conn   *net.UnixConn
	id     uint64
	beat   *beat // rhythm of its counters, nil: it does not matter

	Version int // of CollectTracing that the runtime understood, 1 to 5
}

// Start begins a session. The session ends when it is stopped, or when its connection closes for any reason. Once the session is requested,
// Start waits for the answer, also if the context ends. If the connection closes before the answer, the session cannot be stopped. If the
// next session began at that time, .NET Core 3.1.2 crashed in one of three tries on a busy host.
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

// Read reads the stream. A connection that breaks as the process ends is the end of the stream; the data may be cut anywhere.
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

// SetReadDeadline bounds [Session.Read], which then fails with os.ErrDeadlineExceeded.
func (s *Session) SetReadDeadline(t time.Time) error { return s.conn.SetReadDeadline(t) }

// Stop asks the runtime to end the session. The caller must read the rest, such as the rundown, by Read up to io.EOF at the same time,
// because the answer comes only after that. Stopping an ended session is no error. Before .NET 6 a session with counters is stopped between
// counters, up to 1.5 s later.
func (s *Session) Stop(ctx context.Context, within time.Duration) error {
	if s.beat != nil {
		s.beat.waitQuiet(ctx)
	}
	id := binary.LittleEndian.AppendUint64(nil, s.id)
	_, err := s.client.runCommand(ctx, 0x0201, id, within)
	var code Code
	if errors.As(err, &code) || errors.Is(err, ErrGone) {
		return nil // no session has this ID any more
	}
	return err
}

// Close closes the connection. A session that still runs then ends, without a rundown, when the runtime next writes to it.
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

const nettrace = 1 // the stream's format; 0 is netperf

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
		b = appendFlag(b, p.Only != nil) // false: all events
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

// appendText is the reverse of decoder.readText. An empty text has no zero at its end.
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
