// Command collector takes lines of logs over TCP. Every two seconds it starts a new file,
// and reads nothing meanwhile.
package main

import (
	"bufio"
	"io"
	"log"
	"net"
	"os"
	"time"
)

func main() {
	listener, err := net.Listen("tcp", os.Getenv("ADDR"))
	if err != nil {
		log.Fatal(err)
	}
	for {
		conn, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		conn.(*net.TCPConn).SetReadBuffer(128 << 10)
		go collect(conn)
	}
}

func collect(conn net.Conn) {
	defer conn.Close()
	in, started := bufio.NewReader(conn), time.Now()
	for {
		if _, err := in.ReadSlice('\n'); err == io.EOF {
			return
		} else if err != nil && err != bufio.ErrBufferFull {
			return
		}
		if time.Since(started) > 1400*time.Millisecond {
			if os.Getenv("FAULT") != "0" {
				time.Sleep(700 * time.Millisecond)
			}
			started = time.Now()
		}
	}
}
