// Command lines is a key-value store that speaks lines over TCP: "GET key" is answered
// with "VALUE key …", anything else with "OK". It takes -delay for an answer, or -slow for
// a -share of them. FAULT=0 leaves out what is slow.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"time"
)

var (
	delay = flag.Duration("delay", time.Millisecond, "usual time to answer")
	slow  = flag.Duration("slow", 0, "time to answer when slow")
	share = flag.Float64("share", 0, "share of answers that are slow")
	size  = flag.Int("size", 64, "bytes of a value")
)

func main() {
	flag.Parse()
	if os.Getenv("FAULT") == "0" {
		*share = 0
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
		go serve(conn)
	}
}

func serve(conn net.Conn) {
	defer conn.Close()
	value := strings.Repeat("v", *size)
	in := bufio.NewReader(conn)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		if *share > 0 && rand.Float64() < *share {
			time.Sleep(*slow)
		} else {
			time.Sleep(*delay)
		}
		answer := "OK\n"
		if key, ok := strings.CutPrefix(strings.TrimSpace(line), "GET "); ok {
			answer = fmt.Sprintf("VALUE %s %s\n", key, value)
		}
		if _, err := conn.Write([]byte(answer)); err != nil {
			return
		}
	}
}
