// Command translate-sem translates phrases (echo). A weighted semaphore stands for the
// licences of the engine: a long phrase takes two. Who waits for over two seconds is told
// to come back.
package main

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
	"golang.org/x/sync/semaphore"
)

type translator struct {
	licences *semaphore.Weighted
	conns    sync.Pool
}

type conn struct {
	net.Conn
	*bufio.Scanner
}

func main() {
	licences := int64(3)
	if os.Getenv("FAULT") == "0" {
		licences = 50
	}
	t := &translator{licences: semaphore.NewWeighted(licences)}
	t.conns.New = func() any {
		c, err := net.Dial("tcp", os.Getenv("ADDR_ENGINE"))
		if err != nil {
			log.Fatal(err)
		}
		return &conn{c, bufio.NewScanner(c)}
	}
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.GET("/translate/:lang", t.translate)
	e.Any("/debug/pprof/*", echo.WrapHandler(http.DefaultServeMux))
	log.Fatal(e.Start(os.Getenv("ADDR")))
}

func (t *translator) translate(c echo.Context) error {
	text := c.QueryParam("text")
	weight := int64(1)
	if len(text) > 20 {
		weight = 2
	}
	ctx, cancel := context.WithTimeout(c.Request().Context(), 2*time.Second)
	defer cancel()
	if err := t.licences.Acquire(ctx, weight); err != nil {
		return c.String(http.StatusTooManyRequests, "come back")
	}
	defer t.licences.Release(weight)
	engine := t.conns.Get().(*conn)
	defer t.conns.Put(engine)
	fmt.Fprintf(engine, "GET %s\n", c.Param("lang"))
	if !engine.Scan() {
		return echo.ErrBadGateway
	}
	return c.String(http.StatusOK, engine.Text())
}
