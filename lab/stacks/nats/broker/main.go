// Command broker is a NATS server with the settings of the shop.
package main

import (
	"context"
	"log"
	"net"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/nats-io/nats-server/v2/server"
)

func main() {
	host, port, err := net.SplitHostPort(os.Getenv("ADDR"))
	if err != nil {
		log.Fatal(err)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		log.Fatal(err)
	}
	s, err := server.NewServer(&server.Options{ServerName: "broker", Host: host, Port: number, NoSigs: true, NoLog: true})
	if err != nil {
		log.Fatal(err)
	}
	s.Start()
	stop, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer cancel()
	<-stop.Done()
	s.Shutdown()
}
