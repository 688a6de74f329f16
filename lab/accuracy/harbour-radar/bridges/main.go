// Bridges listen to the radar for good: most over WebSockets, screens to server-sent
// events. Who is cut off calls again.
package main

import (
	"bufio"
	"fmt"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/gorilla/websocket"
)

func main() {
	for i := range 100 {
		listen := bridge
		if i%5 == 0 {
			listen = screen
		}
		go func() {
			time.Sleep(time.Duration(i) * 10 * time.Millisecond)
			for {
				log.Print(listen(os.Getenv("ADDR_SERVICE")))
				time.Sleep(time.Second)
			}
		}()
	}
	select {}
}

func bridge(radar string) error {
	conn, _, err := websocket.DefaultDialer.Dial(fmt.Sprintf("ws://%s/bridge", radar), nil)
	if err != nil {
		return err
	}
	defer conn.Close()
	for {
		if _, _, err := conn.ReadMessage(); err != nil {
			return err
		}
	}
}

func screen(radar string) error {
	answer, err := http.Get(fmt.Sprintf("http://%s/screen", radar))
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() {
	}
	return fmt.Errorf("the screen is dark: %w", lines.Err())
}
