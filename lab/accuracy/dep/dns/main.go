// Command dns answers every question for an A record over UDP with 127.0.0.1, after
// -delay, or after -slow for a -share of the questions. FAULT=0 leaves out what is slow.
// It also accepts on the TCP port of the same number and says nothing there.
package main

import (
	"flag"
	"log"
	"math/rand/v2"
	"net"
	"os"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

var (
	delay = flag.Duration("delay", time.Millisecond, "usual time to answer")
	slow  = flag.Duration("slow", 0, "time to answer when slow")
	share = flag.Float64("share", 0, "share of answers that are slow")
)

func main() {
	flag.Parse()
	if os.Getenv("FAULT") == "0" {
		*share = 0
	}
	if _, err := net.Listen("tcp", os.Getenv("ADDR")); err != nil {
		log.Fatal(err)
	}
	conn, err := net.ListenPacket("udp", os.Getenv("ADDR"))
	if err != nil {
		log.Fatal(err)
	}
	buf := make([]byte, 4096)
	for {
		n, from, err := conn.ReadFrom(buf)
		if err != nil {
			log.Fatal(err)
		}
		go answer(conn, from, append([]byte(nil), buf[:n]...))
	}
}

func answer(conn net.PacketConn, from net.Addr, question []byte) {
	var m dnsmessage.Message
	if m.Unpack(question) != nil || len(m.Questions) == 0 {
		return
	}
	if rand.Float64() < *share {
		time.Sleep(*slow)
	} else {
		time.Sleep(*delay)
	}
	m.Response, m.RecursionAvailable = true, true
	q := m.Questions[0]
	m.Additionals = nil
	if q.Type == dnsmessage.TypeA {
		m.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class, TTL: 1},
			Body:   &dnsmessage.AResource{A: [4]byte{127, 0, 0, 1}},
		}}
	}
	if out, err := m.Pack(); err == nil {
		conn.WriteTo(out, from)
	}
}
