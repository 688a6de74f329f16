// Command keeper knows who may pass which door, over UDP. One question in sixteen is lost
// on the way.
package main

import (
	"log"
	"math/rand/v2"
	"net"
	"os"
)

func main() {
	ready, err := net.Listen("tcp", os.Getenv("ADDR"))
	if err != nil {
		log.Fatal(err)
	}
	go func() {
		for {
			if conn, err := ready.Accept(); err == nil {
				conn.Close()
			}
		}
	}()
	conn, err := net.ListenPacket("udp", os.Getenv("ADDR"))
	if err != nil {
		log.Fatal(err)
	}
	buf := make([]byte, 512)
	for {
		n, from, err := conn.ReadFrom(buf)
		if err != nil {
			log.Fatal(err)
		}
		if os.Getenv("FAULT") != "0" && rand.IntN(16) == 0 {
			continue
		}
		conn.WriteTo(append([]byte("may pass: "), buf[:n]...), from)
	}
}
