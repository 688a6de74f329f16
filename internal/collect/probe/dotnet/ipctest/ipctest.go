// Package ipctest is a diagnostics server of a .NET runtime for tests. It knows as much of the protocol as the version it plays, and can be
// slow, wrong, or gone.
package ipctest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Answers other than success.
const (
	UnknownCommand = 0x80131385
	BadEncoding    = 0x80131384
)

// Server is the simulated runtime. Set its fields before [Server.Listen].
type Server struct {
	Collect int    // the newest CollectTracing known, 1 to 5; 0: none
	Info    int    // the newest ProcessInfo known, 1 to 3; 0: none
	Other   uint32 // answer to an unknown command; 0: UnknownCommand

	PID               int // PID in ProcessInfo
	Assembly, Version string
	CommandLine       string

	Stream func(s Session) []byte // the first data of a session; nil: "Nettrace"
	Every  time.Duration          // repeats the data at this interval; 0: once
	Names  []byte                 // data of a session with names when it is stopped

	Mute     bool // accepts commands and does not answer
	Garbage  bool // answers with other data
	HangUp   bool // closes the connection instead of answering
	EndAfter int  // ends a session by itself after this many deliveries; 0: does not
	Deaf     bool // does not answer StopTracing

	Asked func() // called when a session is requested, before the answer

	mu       sync.Mutex
	sessions []*Session
	listener *net.UnixListener
}

// Session is a session that was begun.
type Session struct {
	ID        uint64
	Form      int // of CollectTracing
	BufferMB  uint32
	Rundown   uint64 // 1 if it is only a flag; 1 for CollectTracing 1, which always writes names
	Stacks    bool
	Providers []Provider
	Ended     string // "stopped", "closed" by the client, "" still running

	stop chan struct{}
}

// Provider is a provider of a session.
type Provider struct {
	Name, Args string
	Keywords   uint64
	Level      uint32
	Enable     bool // the filter keeps only the listed events (else it drops them)
	Events     []uint32
}

// Has says whether a session has a provider.
func (s Session) Has(name string) bool {
	for _, p := range s.Providers {
		if p.Name == name {
			return true
		}
	}
	return false
}

// Path returns where this process would listen in a directory.
func Path(dir string) (string, error) {
	text, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return "", err
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	return filepath.Join(dir, fmt.Sprintf("dotnet-diagnostic-%d-%s-socket", os.Getpid(), fields[22-3])), nil
}

// Listen serves until [Server.Close].
func (s *Server) Listen(path string) error {
	// The name may be too long for the system, so it is relative to its folder.
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	s.listener, err = net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(path))})
	if err != nil {
		return err
	}
	s.listener.SetUnlinkOnClose(false)
	go func() {
		for {
			c, err := s.listener.AcceptUnix()
			if err != nil {
				return
			}
			go s.serve(c)
		}
	}()
	return nil
}

// Close ends the server. Its socket stays, like that of a killed runtime.
func (s *Server) Close() { _ = s.listener.Close() }

// Sessions returns all sessions that were begun, in order.
func (s *Server) Sessions() []Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Session
	for _, x := range s.sessions {
		all = append(all, *x)
	}
	return all
}

func (s *Server) serve(c *net.UnixConn) {
	defer c.Close()
	h := make([]byte, 20)
	if _, err := io.ReadFull(c, h); err != nil || string(h[:14]) != "DOTNET_IPC_V1\x00" {
		return
	}
	payload := make([]byte, int(binary.LittleEndian.Uint16(h[14:]))-len(h))
	if _, err := io.ReadFull(c, payload); err != nil {
		return
	}
	switch {
	case s.Mute:
		_, _ = c.Read(h) // until the client closes
		return
	case s.Garbage:
		_, _ = c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
		return
	case s.HangUp:
		return
	}
	switch command := binary.BigEndian.Uint16(h[16:]); command {
	case 0x0408, 0x0404, 0x0400:
		s.answerInfo(c, map[uint16]int{0x0408: 3, 0x0404: 2, 0x0400: 1}[command])
	case 0x0202, 0x0203, 0x0204, 0x0205, 0x0206:
		s.answerCollect(c, int(command-0x0201), payload)
	case 0x0201:
		s.answerStop(c, payload)
	default:
		s.answerFailure(c)
	}
}

func (s *Server) answerInfo(c net.Conn, form int) {
	if form > s.Info {
		s.answerFailure(c)
		return
	}
	var b []byte
	if form == 3 {
		b = binary.LittleEndian.AppendUint32(b, 1)
	}
	b = binary.LittleEndian.AppendUint64(b, uint64(s.PID))
	b = append(b, make([]byte, 16)...)
	texts := []string{s.CommandLine, "Linux", "x64", s.Assembly, s.Version, "linux_x64"}
	for _, t := range texts[:3+map[int]int{1: 0, 2: 2, 3: 3}[form]] {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(t)+1))
		for _, r := range t + "\x00" {
			b = binary.LittleEndian.AppendUint16(b, uint16(r))
		}
	}
	writeAnswer(c, 0xff00, b)
}

func (s *Server) answerFailure(c net.Conn) {
	code := s.Other
	if code == 0 {
		code = UnknownCommand
	}
	writeAnswer(c, 0xffff, binary.LittleEndian.AppendUint32(nil, code))
}

func writeAnswer(c net.Conn, kind uint16, payload []byte) {
	b := binary.LittleEndian.AppendUint16([]byte("DOTNET_IPC_V1\x00"), uint16(20+len(payload)))
	b = append(binary.BigEndian.AppendUint16(b, kind), 0, 0)
	_, _ = c.Write(append(b, payload...))
}

func (s *Server) answerCollect(c *net.UnixConn, form int, payload []byte) {
	if s.Asked != nil {
		s.Asked()
	}
	if form > s.Collect {
		s.answerFailure(c)
		return
	}
	x, err := parseCollect(form, payload)
	if err != nil {
		writeAnswer(c, 0xffff, binary.LittleEndian.AppendUint32(nil, BadEncoding))
		return
	}
	s.mu.Lock()
	x.ID = uint64(len(s.sessions) + 1)
	s.sessions = append(s.sessions, x)
	s.mu.Unlock()
	writeAnswer(c, 0xff00, binary.LittleEndian.AppendUint64(nil, x.ID))
	gone := make(chan struct{})
	go func() {
		_, _ = c.Read(make([]byte, 1))
		close(gone)
	}()
	for n := 1; ; n++ {
		data := []byte("Nettrace")
		if s.Stream != nil {
			s.mu.Lock()
			told := *x
			s.mu.Unlock()
			data = s.Stream(told)
		}
		_, _ = c.Write(data)
		if n == s.EndAfter {
			return
		}
		var again <-chan time.Time
		if s.Every > 0 {
			again = time.After(s.Every)
		}
		select {
		case <-again:
		case <-x.stop:
			if x.Rundown != 0 {
				_, _ = c.Write(s.Names)
			}
			return
		case <-gone:
			s.markClosed(x)
			return
		}
	}
}

func (s *Server) markClosed(x *Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x.Ended == "" {
		x.Ended = "closed"
	}
}

func (s *Server) answerStop(c net.Conn, payload []byte) {
	if s.Deaf {
		_, _ = c.Read(make([]byte, 1))
		return
	}
	s.mu.Lock()
	id := binary.LittleEndian.Uint64(payload)
	if id == 0 || id > uint64(len(s.sessions)) || s.sessions[id-1].Ended != "" {
		s.mu.Unlock()
		writeAnswer(c, 0xffff, binary.LittleEndian.AppendUint32(nil, 0x80004005))
		return
	}
	close(s.sessions[id-1].stop)
	s.sessions[id-1].Ended = "stopped"
	s.mu.Unlock()
	writeAnswer(c, 0xff00, payload)
}

// parseCollect decodes the payload of CollectTracing; bytes left over are an error.
func parseCollect(form int, b []byte) (*Session, error) {
	d := &reader{b: b}
	x := &Session{Form: form, Rundown: 1, Stacks: true, stop: make(chan struct{})}
	if form == 5 && d.readUint32() != 0 {
		return nil, errors.New("not a streaming session")
	}
	x.BufferMB = d.readUint32()
	if d.readUint32() != 1 || x.BufferMB == 0 {
		return nil, errors.New("not nettrace, or no buffer")
	}
	switch {
	case form >= 4:
		x.Rundown = d.readUint64()
	case form >= 2:
		x.Rundown = uint64(d.takeBytes(1)[0])
	}
	if form >= 3 {
		x.Stacks = d.takeBytes(1)[0] == 1
	}
	for range d.readUint32() {
		if d.short {
			break
		}
		p := Provider{Keywords: d.readUint64(), Level: d.readUint32(), Name: d.readText(), Args: d.readText()}
		if form == 5 {
			p.Enable = d.takeBytes(1)[0] == 1
			for range min(d.readUint32(), 100) {
				p.Events = append(p.Events, d.readUint32())
			}
		}
		x.Providers = append(x.Providers, p)
	}
	if d.short || len(d.b) > 0 || len(x.Providers) == 0 {
		return nil, fmt.Errorf("CollectTracing %d is not laid out like that", form)
	}
	return x, nil
}

type reader struct {
	b     []byte
	short bool
}

func (r *reader) takeBytes(n int) []byte {
	if n > len(r.b) {
		r.short, r.b = true, nil
		return make([]byte, n)
	}
	t := r.b[:n]
	r.b = r.b[n:]
	return t
}

func (r *reader) readUint32() uint32 { return binary.LittleEndian.Uint32(r.takeBytes(4)) }
func (r *reader) readUint64() uint64 { return binary.LittleEndian.Uint64(r.takeBytes(8)) }

func (r *reader) readText() string {
	n := int(r.readUint32())
	if n == 0 || n > len(r.b) {
		r.short = r.short || n > 0
		return ""
	}
	var s []rune
	for range n {
		s = append(s, rune(binary.LittleEndian.Uint16(r.takeBytes(2))))
	}
	if s[n-1] != 0 {
		r.short = true
	}
	return string(s[:n-1])
}
