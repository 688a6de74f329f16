package gotrace

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// lineServer answers each line with one, after asking a dependency on the same
// goroutine: a server no library framed.
func lineServer(t *testing.T, dependency string) net.Listener {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go serveLines(t, c, dependency)
		}
	}()
	return l
}

func serveLines(t *testing.T, c net.Conn, dependency string) {
	defer c.Close()
	d, err := net.Dial("tcp", dependency)
	if err != nil {
		t.Error(err)
		return
	}
	defer d.Close()
	r := bufio.NewReader(c)
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		if _, err := d.Write([]byte{1}); err != nil {
			return
		}
		if _, err := io.ReadFull(d, make([]byte, 1)); err != nil {
			return
		}
		fmt.Fprint(c, line)
	}
}

// TestUnknownServer recovers the requests of a line protocol, which only its
// shape gives away.
func TestUnknownServer(t *testing.T) {
	const clients, each = 4, 100
	server := lineServer(t, echo(t).Addr().String())
	b := record(t, func() {
		var all sync.WaitGroup
		for range clients {
			all.Go(func() {
				c, err := net.Dial("tcp", server.Addr().String())
				if err != nil {
					t.Error(err)
					return
				}
				defer c.Close()
				r := bufio.NewReader(c)
				for i := range each {
					fmt.Fprintf(c, "request %d\n", i)
					if _, err := r.ReadString('\n'); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		all.Wait()
	})
	var lines int
	for i := range b.Requests.Len() {
		// The dependency serves connections, too; its answers are its requests.
		var waits int64
		for s := range b.Requests.Path(i).All {
			if s.Kind == evidence.NetWait {
				waits += s.Dur
			}
		}
		if waits > 0 {
			lines++
		}
	}
	if all := b.Requests.Len(); all < clients*each*98/100 || all > 2*clients*each*102/100 {
		t.Errorf("%d requests of %d lines and as many bytes", all, clients*each)
	}
	if lines > clients*each {
		t.Errorf("%d requests waited for the dependency, %d were made", lines, clients*each)
	}
}
