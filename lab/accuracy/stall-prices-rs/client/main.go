// Client asks for prices: 24 customers, each a line at a time with rests between.
package main

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	for range 24 {
		go customer()
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, os.Interrupt)
	<-stop
}

func customer() {
	for {
		shop()
		time.Sleep(100 * time.Millisecond)
	}
}

func shop() {
	c, err := net.Dial("tcp", os.Getenv("ADDR_SERVICE"))
	if err != nil {
		return
	}
	defer c.Close()
	answers := bufio.NewReader(c)
	for {
		fmt.Fprintln(c, rand.IntN(6000))
		if _, err := answers.ReadString('\n'); err != nil {
			return
		}
		time.Sleep(rand.N(4 * time.Millisecond))
	}
}
