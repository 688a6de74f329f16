// Command service listens on TCP and on a UNIX socket, and serves profiles. It prints its address and ends with its standard input.
package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
)

func main() {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	if len(os.Args) > 1 {
		unix, err := net.Listen("unix", os.Args[1])
		if err != nil {
			log.Fatal(err)
		}
		go func() { log.Fatal(http.Serve(unix, nil)) }()
	}
	go func() { log.Fatal(http.Serve(tcp, nil)) }()
	fmt.Println(tcp.Addr())
	_, _ = io.Copy(io.Discard, os.Stdin)
}
