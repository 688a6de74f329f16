// Command canal-tolls keeps the accounts of the boats on a canal. It speaks just enough HTTP itself, over
// bare TCP, with a goroutine for each connection.
package main

import (
	"bufio"
	"fmt"
	"hash/fnv"
	"log"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
)

// shard is a part of the ledger, with a line of its own to the clearing house.
type shard struct {
	mu      sync.Mutex
	owed    map[string]int
	line    net.Conn
	answers *bufio.Reader
}

// ledger spreads boats over shards so that their accounts do not wait for each other.
type ledger struct {
	shards [64]shard
	pick   func(boat string) uint32
}

func newLedger(clearing string, pick func(string) uint32) (*ledger, error) {
	l := &ledger{pick: pick}
	for i := range l.shards {
		line, err := net.Dial("tcp", clearing)
		if err != nil {
			return nil, err
		}
		l.shards[i].owed, l.shards[i].line, l.shards[i].answers = make(map[string]int), line, bufio.NewReader(line)
	}
	return l, nil
}

func (l *ledger) charge(boat string, cents int) (owed int, err error) {
	s := &l.shards[l.pick(boat)%uint32(len(l.shards))]
	s.mu.Lock()
	defer s.mu.Unlock()
	s.owed[boat] += cents
	return s.owed[boat], s.clear(boat, s.owed[boat])
}

// clear tells the clearing house what a boat owes, and waits until it has noted it.
func (s *shard) clear(boat string, owed int) error {
	if _, err := fmt.Fprintf(s.line, "OWES %s %d\n", boat, owed); err != nil {
		return err
	}
	_, err := s.answers.ReadString('\n')
	return err
}

// firstLetter is how the paper ledger was divided.
func firstLetter(boat string) uint32 { return uint32(boat[0]) }

func wholeNumber(boat string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(boat))
	return h.Sum32()
}

func main() {
	pick := firstLetter
	if os.Getenv("FAULT") == "0" {
		pick = wholeNumber
	}
	tolls, err := newLedger(os.Getenv("ADDR_CLEARING"), pick)
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", os.Getenv("ADDR"))
	if err != nil {
		log.Fatal(err)
	}
	for {
		conn, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go talk(conn, tolls)
	}
}

// talk answers the requests of a connection, none of which has a body.
func talk(conn net.Conn, tolls *ledger) {
	defer conn.Close()
	in, out := bufio.NewReader(conn), bufio.NewWriter(conn)
	for {
		first, err := in.ReadString('\n')
		if err != nil {
			return
		}
		for line := first; strings.TrimSpace(line) != ""; {
			if line, err = in.ReadString('\n'); err != nil {
				return
			}
		}
		status, body := answer(first, tolls)
		fmt.Fprintf(out, "HTTP/1.1 %s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s", status, len(body), body)
		if out.Flush() != nil {
			return
		}
	}
}

func answer(first string, tolls *ledger) (status, body string) {
	words := strings.Fields(first)
	if len(words) < 2 {
		return "400 Bad Request", ""
	}
	boat, ok := strings.CutPrefix(words[1], "/toll/")
	if !ok || boat == "" {
		return "404 Not Found", ""
	}
	owed, err := tolls.charge(boat, 35*len(boat))
	if err != nil {
		return "502 Bad Gateway", err.Error()
	}
	return "200 OK", boat + " owes " + strconv.Itoa(owed) + " cents\n"
}
