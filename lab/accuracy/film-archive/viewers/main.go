// Viewers are clients with little bandwidth: each reads a clip in pieces, slower than the server sends it.
package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"time"
)

func main() {
	for i := range 30 {
		go func() {
			time.Sleep(time.Duration(i) * 50 * time.Millisecond)
			for {
				if err := watch([]string{"arrival.mp4", "workers.mp4", "gardener.mp4", "snowball.mp4"}[i%4]); err != nil {
					log.Print(err)
					time.Sleep(time.Second)
				}
			}
		}()
	}
	select {}
}

// watch reads a clip at about 800 KB/s.
func watch(name string) error {
	c, err := net.Dial("tcp", os.Getenv("ADDR_SERVICE"))
	if err != nil {
		return err
	}
	defer c.Close()
	c.(*net.TCPConn).SetReadBuffer(64 << 10)
	if _, err := fmt.Fprintf(c, "GET /clips/%s HTTP/1.1\r\nHost: archive\r\nConnection: close\r\n\r\n", name); err != nil {
		return err
	}
	piece := make([]byte, 40<<10)
	for {
		if _, err := io.ReadFull(c, piece); err != nil {
			if err == io.EOF || err == io.ErrUnexpectedEOF {
				return nil
			}
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
}
