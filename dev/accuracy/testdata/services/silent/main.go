// Silent accepts connections and answers nothing.
package main

import (
	"log"
	"net"
	"os"
)

func main() {
	l, err := net.Listen("tcp", os.Getenv("ADDR"))
	if err != nil {
		log.Fatal(err)
	}
	var kept []net.Conn
	for {
		c, err := l.Accept()
		if err != nil {
			log.Fatal(err)
		}
		kept = append(kept, c)
	}
}
