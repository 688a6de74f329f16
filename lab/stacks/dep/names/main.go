// Command names is the name server of the shop's network: it answers every A query with
// 127.0.0.1, to be asked again at once. With the faults slow-dns and slow-names it is slow to
// -share of the queries: an overloaded cache in front of the zone.
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

func main() {
	slow := flag.Duration("slow", 400*time.Millisecond, "time to answer when slow")
	share := flag.Float64("share", 0.1, "share of queries that are slow")
	flag.Parse()
	address := os.Getenv("ADDR")
	udp, err := net.ListenPacket("udp", address)
	if err != nil {
		log.Fatal(err)
	}
	fault := os.Getenv("FAULT")
	sick := fault == "slow-dns" || fault == "slow-names"
	go func() {
		buffer := make([]byte, 1500)
		for {
			n, from, err := udp.ReadFrom(buffer)
			if err != nil {
				log.Fatal(err)
			}
			reply, err := answer(buffer[:n])
			if err != nil {
				continue // no query: nothing is owed
			}
			var takes time.Duration
			if sick && rand.Float64() < *share {
				takes = *slow
			}
			time.AfterFunc(takes, func() {
				if _, err := udp.WriteTo(reply, from); err != nil {
					log.Print(err)
				}
			})
		}
	}()
	tcp, err := net.Listen("tcp", address) // names are asked for over UDP; this says that it is ready
	if err != nil {
		log.Fatal(err)
	}
	for {
		c, err := tcp.Accept()
		if err != nil {
			log.Fatal(err)
		}
		c.Close()
	}
}

// answer has an address for an A query, and none for others.
func answer(query []byte) ([]byte, error) {
	var m dnsmessage.Message
	if err := m.Unpack(query); err != nil {
		return nil, err
	}
	m.Response, m.Authoritative, m.RecursionAvailable, m.Additionals = true, true, true, nil
	for _, q := range m.Questions {
		if q.Type == dnsmessage.TypeA {
			head := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: head, Body: &dnsmessage.AResource{A: [4]byte{127, 0, 0, 1}}})
		}
	}
	return m.Pack()
}
