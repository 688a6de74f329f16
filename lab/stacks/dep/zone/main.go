// Command zone is the network between a service and what runs in another zone: it hands on
// connections to $ADDR_FAR, and what comes back arrives -delay later.
package main

import (
	"flag"
	"io"
	"log"
	"net"
	"os"
	"time"
)

func main() {
	delay := flag.Duration("delay", time.Millisecond, "how much later answers arrive")
	flag.Parse()
	l, err := net.Listen("tcp", os.Getenv("ADDR"))
	if err != nil {
		log.Fatal(err)
	}
	for {
		near, err := l.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go relay(near, *delay)
	}
}

func relay(near net.Conn, delay time.Duration) {
	defer near.Close()
	far, err := net.Dial("tcp", os.Getenv("ADDR_FAR"))
	if err != nil {
		return
	}
	defer far.Close()
	go func() {
		_, _ = io.Copy(far, near) // either side may end it
		far.Close()
	}()
	buffer := make([]byte, 64<<10)
	for {
		n, err := far.Read(buffer)
		time.Sleep(delay)
		if _, e := near.Write(buffer[:n]); err != nil || e != nil {
			return
		}
	}
}
