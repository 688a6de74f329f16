// Command names is a name server: it answers every question for an address with 127.0.0.1
// and a time to live of 0, so that whoever asks for one keeps nothing. With the fault
// slow-names it takes -slow for -share of the questions, as one does that must ask others first.
package main

import (
	"encoding/binary"
	"flag"
	"log"
	"math/rand/v2"
	"net"
	"os"
	"time"
)

func main() {
	slow := flag.Duration("slow", 400*time.Millisecond, "time to answer when slow")
	share := flag.Float64("share", 0.2, "share of questions that are slow")
	flag.Parse()
	address := os.Getenv("ADDR")
	questions, err := net.ListenPacket("udp", address)
	if err != nil {
		log.Fatal(err)
	}
	// A name server listens on TCP, too, for answers that are too long for a packet.
	l, err := net.Listen("tcp", address)
	if err != nil {
		log.Fatal(err)
	}
	go refuse(l)
	sick := os.Getenv("FAULT") == "slow-names"
	packet := make([]byte, 512)
	for {
		n, from, err := questions.ReadFrom(packet)
		if err != nil {
			log.Fatal(err)
		}
		reply := answer(packet[:n])
		if reply == nil {
			continue
		}
		if sick && rand.Float64() < *share {
			time.AfterFunc(*slow, func() { _, _ = questions.WriteTo(reply, from) }) // who asked may be gone
			continue
		}
		_, _ = questions.WriteTo(reply, from)
	}
}

func refuse(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			log.Fatal(err)
		}
		c.Close()
	}
}

// answer is the answer to a packet with one question, nil where it is none.
func answer(question []byte) []byte {
	const header = 12
	end := header
	for end < len(question) && question[end] != 0 {
		end += 1 + int(question[end])
	}
	end += 1 + 4 // the root, then type and class
	if end > len(question) || question[2]&0x80 != 0 {
		return nil
	}
	out := append([]byte(nil), question[:end]...)
	out[2], out[3] = 0x85, 0x80 // an answer, with authority; recursion is to be had
	binary.BigEndian.PutUint16(out[4:], 1)
	copy(out[6:], make([]byte, 6))
	if binary.BigEndian.Uint16(question[end-4:]) != 1 { // not an address of IPv4: there is none
		return out
	}
	binary.BigEndian.PutUint16(out[6:], 1)
	return append(out, 0xc0, header, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1)
}
