// Chat-relay hands messages on between those who are in a room (gorilla/websocket): the
// connections are hijacked and stay, and say nothing for seconds. A page lists the rooms.
package main

import (
	"encoding/json"
	"log"
	"net/http"
	_ "net/http/pprof"
	"os"
	"sync"

	"github.com/gorilla/websocket"
)

type room struct {
	mu      sync.Mutex
	members map[*member]bool
}

type member struct {
	conn *websocket.Conn
	out  chan []byte
}

func (r *room) say(text []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for m := range r.members {
		select {
		case m.out <- text:
		default: // it does not read: it misses this one
		}
	}
}

type relay struct {
	mu    sync.Mutex
	rooms map[string]*room
}

func (x *relay) room(name string) *room {
	x.mu.Lock()
	defer x.mu.Unlock()
	r := x.rooms[name]
	if r == nil {
		r = &room{members: map[*member]bool{}}
		x.rooms[name] = r
	}
	return r
}

func (x *relay) list(w http.ResponseWriter, _ *http.Request) {
	x.mu.Lock()
	names := make([]string, 0, len(x.rooms))
	for name := range x.rooms {
		names = append(names, name)
	}
	x.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(names)
}

var upgrader = websocket.Upgrader{ReadBufferSize: 1024, WriteBufferSize: 1024}

func (x *relay) join(w http.ResponseWriter, r *http.Request) {
	conn, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	in := x.room(r.PathValue("room"))
	m := &member{conn, make(chan []byte, 16)}
	in.mu.Lock()
	in.members[m] = true
	in.mu.Unlock()
	gone := make(chan struct{})
	go func() {
		for {
			select {
			case text := <-m.out:
				if conn.WriteMessage(websocket.TextMessage, text) != nil {
					return
				}
			case <-gone:
				return
			}
		}
	}()
	for {
		_, text, err := conn.ReadMessage()
		if err != nil {
			break
		}
		in.say(text)
	}
	in.mu.Lock()
	delete(in.members, m)
	in.mu.Unlock()
	close(gone)
	conn.Close()
}

func main() {
	x := &relay{rooms: map[string]*room{}}
	http.HandleFunc("GET /rooms", x.list)
	http.HandleFunc("GET /rooms/{room}", x.join)
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), nil))
}
