// Talkers sit in rooms and say something every few seconds.
package main

import (
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"time"

	"github.com/gorilla/websocket"
)

func main() {
	for i := range 120 {
		go func() {
			for {
				if err := talk(i); err != nil {
					log.Print(err)
					time.Sleep(time.Second)
				}
			}
		}()
	}
	select {}
}

func talk(i int) error {
	conn, _, err := websocket.DefaultDialer.Dial(fmt.Sprintf("ws://%s/rooms/room-%d", os.Getenv("ADDR_SERVICE"), i%12), nil)
	if err != nil {
		return err
	}
	defer conn.Close()
	failed := make(chan error, 1)
	go func() {
		for {
			if _, _, err := conn.ReadMessage(); err != nil {
				failed <- err
				return
			}
		}
	}()
	for {
		select {
		case <-time.After(time.Duration(1000+rand.IntN(4000)) * time.Millisecond):
			if err := conn.WriteMessage(websocket.TextMessage, []byte("and what do you think?")); err != nil {
				return err
			}
		case err := <-failed:
			return err
		}
	}
}
