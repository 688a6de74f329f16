// Viewers of newsreels read them as fast as they are shown, one after the other.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"time"
)

const perSecond = 900 << 10 // bytes

// client has small receive buffers, so that a server sees how slowly a viewer reads.
var client = http.Client{Transport: &http.Transport{
	MaxIdleConnsPerHost: 20,
	DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return conn, conn.(*net.TCPConn).SetReadBuffer(64 << 10)
	},
}}

func main() {
	for viewer := range 14 {
		go func() {
			time.Sleep(time.Duration(viewer) * 300 * time.Millisecond)
			for n := viewer; ; n += 14 {
				if err := watch(n); err != nil {
					log.Print(err)
					time.Sleep(time.Second)
				}
			}
		}()
	}
	select {}
}

func watch(reel int) error {
	answer, err := client.Get(fmt.Sprintf("http://%s/reel/%d", os.Getenv("ADDR_SERVICE"), reel))
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	const step = 100 * time.Millisecond
	tick := time.NewTicker(step)
	defer tick.Stop()
	for {
		_, err := io.CopyN(io.Discard, answer.Body, int64(perSecond*step/time.Second))
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		<-tick.C
	}
}
