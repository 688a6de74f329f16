// Package attachtest is an attach listener for tests, like that of a HotSpot JVM. It belongs to the test's own process.
package attachtest

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/unstall/unstall/internal/collect/probe/hotspot/attach"
)

// Server is a listener.
type Server struct {
	// Answer returns the answer to a command, with its code: "0\n17.0.9\n". Nil: the listener never answers.
	Answer func(command string) string

	HangUp bool // connections are closed at once

	root string
	mu   sync.Mutex
	got  []string
}

// Start lets a server listen until the test ends.
func (s *Server) Start(t testing.TB) *attach.VM {
	t.Helper()
	s.root = t.TempDir()
	if err := os.Mkdir(filepath.Join(s.root, "tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	vm := attach.At(os.Getpid(), s.root)
	l, err := net.Listen("unix", vm.Socket())
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	over := make(chan struct{})
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer c.Close()
				s.serve(c, over)
			})
		}
	})
	t.Cleanup(func() {
		close(over)
		_ = l.Close()
		all.Wait()
	})
	return vm
}

// Commands returns the commands that were requested, in order.
func (s *Server) Commands() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.got...)
}

// Root returns the prefix of the JVM's paths.
func (s *Server) Root() string { return s.root }

func (s *Server) serve(c net.Conn, over <-chan struct{}) {
	if s.HangUp {
		return
	}
	request, err := readRequest(c)
	if err != nil {
		return // an empty request: the client only checked whether the listener runs
	}
	s.mu.Lock()
	s.got = append(s.got, request)
	s.mu.Unlock()
	if s.Answer == nil {
		<-over
		return
	}
	_, _ = io.WriteString(c, s.Answer(request))
}

// readRequest reads a request: five strings, each ended by a zero byte.
func readRequest(c io.Reader) (command string, err error) {
	var parts []string
	var part []byte
	for len(parts) < 5 {
		var b [1]byte
		if _, err := io.ReadFull(c, b[:]); err != nil {
			return "", err
		}
		if b[0] != 0 {
			part = append(part, b[0])
			continue
		}
		parts, part = append(parts, string(part)), part[:0]
	}
	if parts[0] != "1" || parts[1] != "jcmd" || strings.Join(parts[3:], "") != "" {
		return "", fmt.Errorf("the request %q", parts)
	}
	return parts[2], nil
}
