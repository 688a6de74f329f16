// Command places finds names of places: frames of four bytes length and a body over TCP.
// A box that crosses a border takes it 70 ms (with FAULT=0 as long as any other).
package main

import (
	"bufio"
	"encoding/binary"
	"io"
	"log"
	"net"
	"os"
	"time"
)

func main() {
	l, err := net.Listen("tcp", os.Getenv("ADDR"))
	if err != nil {
		log.Fatal(err)
	}
	for {
		c, err := l.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go serve(c)
	}
}

func serve(c net.Conn) {
	defer c.Close()
	in := bufio.NewReader(c)
	for {
		var size [4]byte
		if _, err := io.ReadFull(in, size[:]); err != nil {
			return
		}
		body := make([]byte, binary.BigEndian.Uint32(size[:]))
		if _, err := io.ReadFull(in, body); err != nil {
			return
		}
		d := 2 * time.Millisecond
		if len(body) > 0 && body[len(body)-1]%2 == 0 && os.Getenv("FAULT") != "0" {
			d = 70 * time.Millisecond
		}
		time.Sleep(d)
		c.Write(append(size[:], body...))
	}
}
