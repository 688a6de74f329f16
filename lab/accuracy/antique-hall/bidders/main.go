// Bidders of an auction speak SignalR's JSON protocol: most over WebSockets, some by long
// polls. They follow lots and bid now and then; every fifth has prices as a stream. Who is
// cut off calls again.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"os"
	"time"

	"github.com/gorilla/websocket"
)

const end = "\x1e"

func main() {
	hall := os.Getenv("ADDR_SERVICE") + "/hall"
	for i := range 72 {
		bid := bySocket
		if i%6 == 0 {
			bid = byPolls
		}
		go func() {
			time.Sleep(time.Duration(i) * 20 * time.Millisecond)
			for {
				log.Print(bid(hall, i))
				time.Sleep(time.Second)
			}
		}()
	}
	select {}
}

// say says one message after the other: first greetings, then bids and pings for good.
func say(bidder int, send func(string) error) error {
	hello := []string{
		`{"protocol":"json","version":1}`,
		fmt.Sprintf(`{"type":1,"target":"Follow","arguments":[%d]}`, bidder%40),
		fmt.Sprintf(`{"type":1,"target":"Follow","arguments":[%d]}`, bidder*7%40),
	}
	if bidder%5 == 0 {
		hello = append(hello, fmt.Sprintf(`{"type":4,"invocationId":"p","target":"Prices","arguments":[%d]}`, bidder%40))
	}
	for _, message := range hello {
		if err := send(message + end); err != nil {
			return err
		}
	}
	for n := 0; ; n++ {
		time.Sleep(2*time.Second + rand.N(6*time.Second))
		message := `{"type":6}`
		if n%2 == 0 {
			message = fmt.Sprintf(`{"type":1,"invocationId":"%d","target":"Bid","arguments":[%d,%d]}`, n, bidder%40, time.Now().UnixMilli()/1000%100_000)
		}
		if err := send(message + end); err != nil {
			return err
		}
	}
}

func bySocket(hall string, bidder int) error {
	conn, _, err := websocket.DefaultDialer.Dial("ws://"+hall, nil)
	if err != nil {
		return err
	}
	defer conn.Close()
	go say(bidder, func(message string) error { return conn.WriteMessage(websocket.TextMessage, []byte(message)) })
	for {
		if _, _, err := conn.ReadMessage(); err != nil {
			return err
		}
	}
}

func byPolls(hall string, bidder int) error {
	answer, err := http.Post("http://"+hall+"/negotiate?negotiateVersion=1", "text/plain", nil)
	if err != nil {
		return err
	}
	var place struct{ ConnectionToken string }
	err = json.NewDecoder(answer.Body).Decode(&place)
	answer.Body.Close()
	if err != nil {
		return err
	}
	at := "http://" + hall + "?id=" + place.ConnectionToken
	if err := take(http.Get(at)); err != nil { // the first poll is answered at once
		return err
	}
	go say(bidder, func(message string) error {
		return take(http.Post(at, "text/plain", bytes.NewBufferString(message)))
	})
	for {
		if err := take(http.Get(at)); err != nil {
			return err
		}
	}
}

func take(answer *http.Response, err error) error {
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the hall says %s", answer.Status)
	}
	_, err = io.Copy(io.Discard, answer.Body)
	return err
}
