// Command relay says what it hears over WebSockets, and who is there.
package main

import (
	"io"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/gorilla/websocket"
)

func main() {
	up := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	http.HandleFunc("/air", func(w http.ResponseWriter, r *http.Request) {
		c, err := up.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer c.Close()
		for {
			_, b, err := c.ReadMessage()
			if err != nil || c.WriteMessage(websocket.TextMessage, b) != nil {
				return
			}
		}
	})
	http.HandleFunc("/list", func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(2 * time.Millisecond)
		io.WriteString(w, "dl1\n")
	})
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), nil))
}
