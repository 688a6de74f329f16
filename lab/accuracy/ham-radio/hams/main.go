// Command hams holds forty WebSockets, and calls over each now and then.
package main

import (
	"log"
	"math/rand/v2"
	"os"
	"time"

	"github.com/gorilla/websocket"
)

func main() {
	for range 40 {
		c, _, err := websocket.DefaultDialer.Dial("ws://"+os.Getenv("ADDR_SERVICE")+"/air", nil)
		if err != nil {
			log.Fatal(err)
		}
		go func() {
			for {
				time.Sleep(time.Duration(1+rand.IntN(4)) * time.Second)
				c.WriteMessage(websocket.TextMessage, []byte("cq cq"))
				c.ReadMessage()
			}
		}()
	}
	select {}
}
