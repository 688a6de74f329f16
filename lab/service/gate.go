package service

import (
	"net"
	"sync"
)

// gate limits the number of open connections. Further ones wait in the kernel's accept queue.
type gate struct {
	net.Listener
	places chan struct{}
}

func (g *gate) Accept() (net.Conn, error) {
	g.places <- struct{}{}
	c, err := g.Listener.Accept()
	if err != nil {
		<-g.places
		return nil, err
	}
	return &guest{Conn: c, leave: sync.OnceFunc(func() { <-g.places })}, nil
}

// guest is a connection that holds a place until it is closed.
type guest struct {
	net.Conn
	leave func()
}

func (g *guest) Close() error {
	defer g.leave()
	return g.Conn.Close()
}
