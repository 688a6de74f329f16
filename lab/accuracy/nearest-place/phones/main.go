// Phones keep a connection open each and ask every half minute or so.
package main

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"time"
)

const phones = 700

func main() {
	for i := range phones {
		go func() {
			time.Sleep(time.Duration(i) * 2 * time.Millisecond)
			for {
				if err := phone(); err != nil {
					log.Print(err)
					time.Sleep(time.Second)
				}
			}
		}()
	}
	select {}
}

func phone() error {
	c, err := net.Dial("tcp", os.Getenv("ADDR_SERVICE"))
	if err != nil {
		return err
	}
	defer c.Close()
	in := bufio.NewReader(c)
	for {
		if _, err := fmt.Fprintf(c, "GET /near/%.2f/%.2f HTTP/1.1\r\nHost: geo\r\n\r\n", rand.Float64()*120-60, rand.Float64()*300-150); err != nil {
			return err
		}
		answer, err := http.ReadResponse(in, nil)
		if err != nil {
			return err
		}
		io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		time.Sleep(20*time.Second + time.Duration(rand.IntN(20_000))*time.Millisecond)
	}
}
