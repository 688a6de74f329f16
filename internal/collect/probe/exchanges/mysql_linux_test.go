package exchanges

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe/probetest"
	"github.com/unstall/unstall/internal/collect/probe/tracepoint"
)

// Packets of MySQL as its clients write them: a length, a number, a command.
var packets = [][]byte{
	packet(mysqlPrepare, "select owner from bookings where room = ?"),
	packet(mysqlExecute, "\x01\x00\x00\x00\x00\x01\x00\x00\x00"),
	packet(mysqlClose, "\x01\x00\x00\x00"),
}

func packet(command byte, text string) []byte {
	return append([]byte{byte(1 + len(text)), 0, 0, 0, command}, text...)
}

// statements prepares, executes and closes a statement at an address for each line that it reads, and says when it began with each (ns).
func statements(args []string) {
	c, err := net.Dial("tcp", args[0])
	if err != nil {
		panic(err)
	}
	fmt.Println(c.LocalAddr())
	room := make([]byte, 256)
	for {
		if n, err := os.Stdin.Read(room[:1]); err != nil || n == 0 {
			return
		}
		began := time.Now().UnixNano()
		for _, packet := range packets {
			if _, err := c.Write(packet); err != nil {
				panic(err)
			}
			if packet[4] == mysqlClose {
				continue
			}
			if _, err := c.Read(room); err != nil {
				panic(err)
			}
		}
		fmt.Println(began)
	}
}

// A statement that is given back has no answer: the next call begins when it is sent, however long after that.
func TestClosedStatements(t *testing.T) {
	if err := tracepoint.Try(); err != nil {
		t.Skipf("it needs root or the capabilities BPF and PERFMON, and types of the kernel: %v", err)
	}
	server := listen(t, "127.0.0.1:0")
	go func() {
		for {
			c, err := server.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				head := make([]byte, 5)
				for {
					if _, err := io.ReadFull(c, head); err != nil {
						return
					}
					if _, err := io.CopyN(io.Discard, c, int64(head[0])-1); err != nil {
						return
					}
					if head[4] != mysqlClose {
						_, _ = c.Write([]byte{7, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0})
					}
				}
			}()
		}
	}()
	child := probetest.Play(t, "statements", nil, server.Addr().String())
	found := findAccess(t.Context(), discover.Target{PID: child.Process.Pid})
	if len(found) != 1 || len(found[0].Lacks) > 0 {
		t.Fatalf("found %+v", found)
	}
	r := probetest.Begin(t, found[0])
	r.Wait(t, "exchanges.txt", func(b []byte) bool { return bytes.Contains(b, []byte("until")) })
	calls := func(b []byte) (begun []int64) {
		for line := range strings.Lines(string(b)) {
			if f := strings.Fields(line); len(f) > 12 && f[0] == "k" {
				at, _ := strconv.ParseInt(f[1], 10, 64)
				begun = append(begun, at)
			}
		}
		return begun
	}
	var began []int64
	for range 3 {
		at, err := strconv.ParseInt(child.Ask(t, ""), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		began = append(began, at)
		r.Wait(t, "exchanges.txt", func(b []byte) bool { return len(calls(b)) >= 2*len(began)-1 }) // the last is told with what follows
	}
	if err := r.End(); err != nil {
		t.Fatal(err)
	}
	text := r.Text("exchanges.txt")
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) > 12 && f[0] == "k" && (f[8] != "1" || f[3] == "-1") {
			t.Errorf("a call of several pieces, or without an answer: %s", line)
		}
	}
	all := calls([]byte(text))
	for _, at := range began {
		n := 0
		for _, begun := range all {
			if begun >= at && begun < at+int64(time.Hour) {
				n++
			}
		}
		if n < 2 {
			t.Errorf("%d calls since %d, of %v", n, at, all)
		}
	}
}
