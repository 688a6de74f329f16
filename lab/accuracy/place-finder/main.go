// Command place-finder says where coordinates are (fasthttp). Places are asked over a binary
// protocol; connections are kept on a stack.
package main

import (
	"encoding/binary"
	"io"
	"log"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"sync"

	"github.com/valyala/fasthttp"
)

type places struct {
	mu   sync.Mutex
	idle []net.Conn
}

func main() {
	debug, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go http.Serve(debug, nil)
	p := &places{}
	server := &fasthttp.Server{Name: "geo", Handler: func(ctx *fasthttp.RequestCtx) {
		where, err := p.find(ctx.Path())
		if err != nil {
			ctx.Error(err.Error(), fasthttp.StatusBadGateway)
			return
		}
		ctx.Write(where)
	}}
	log.Fatal(server.ListenAndServe(os.Getenv("ADDR")))
}

func (p *places) find(what []byte) ([]byte, error) {
	c, err := p.pop()
	if err != nil {
		return nil, err
	}
	frame := binary.BigEndian.AppendUint32(nil, uint32(len(what)))
	if _, err := c.Write(append(frame, what...)); err != nil {
		return nil, err
	}
	answer := make([]byte, 4+len(what))
	if _, err := io.ReadFull(c, answer); err != nil {
		return nil, err
	}
	p.mu.Lock()
	p.idle = append(p.idle, c)
	p.mu.Unlock()
	return answer[4:], nil
}

func (p *places) pop() (net.Conn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.idle); n > 0 {
		c := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return c, nil
	}
	return net.Dial("tcp", os.Getenv("ADDR_PLACES"))
}
