// Command transponders reports where light ships are, one every 450 ms. It connects, waits 170 ms
// for its position, and sends it.
package main

import (
	"bufio"
	"fmt"
	"log"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM, os.Interrupt)
	go func() {
		for n := 0; ; n++ {
			go report(n % 60)
			time.Sleep(450 * time.Millisecond)
		}
	}()
	<-end
}

func report(ship int) {
	conn, err := net.Dial("tcp", os.Getenv("ADDR_SERVICE"))
	if err != nil {
		log.Print(err)
		return
	}
	defer conn.Close()
	time.Sleep(170 * time.Millisecond)
	fmt.Fprintf(conn, "$%d 54.%02dN 8.%02dE\n", ship, time.Now().Second(), ship)
	if _, err := bufio.NewReader(conn).ReadString('\n'); err != nil {
		log.Print(err)
	}
}
