// Command stock-keeper reserves goods in warehouses (echo). One goroutine does it for all,
// in order, and asks the warehouse each time.
package main

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"time"

	"github.com/labstack/echo/v4"
)

type order struct {
	article string
	done    chan<- error
}

type keeper struct {
	orders    chan order
	warehouse net.Conn
}

func main() {
	conn, err := net.DialTimeout("tcp", os.Getenv("ADDR_WAREHOUSE"), time.Second)
	if err != nil {
		log.Fatal(err)
	}
	k := &keeper{orders: make(chan order, 512), warehouse: conn}
	go k.loop(context.Background())
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.POST("/reserve/:article", k.reserve)
	e.GET("/debug/pprof/profile", echo.WrapHandler(http.HandlerFunc(pprof.Profile)))
	e.GET("/debug/pprof/trace", echo.WrapHandler(http.HandlerFunc(pprof.Trace)))
	e.GET("/debug/pprof/*", echo.WrapHandler(http.HandlerFunc(pprof.Index)))
	log.Fatal(e.Start(os.Getenv("ADDR")))
}

func (k *keeper) reserve(c echo.Context) error {
	done := make(chan error, 1)
	k.orders <- order{c.Param("article"), done}
	if err := <-done; err != nil {
		return err
	}
	return c.String(http.StatusOK, "reserved")
}

func (k *keeper) loop(ctx context.Context) {
	in := bufio.NewScanner(k.warehouse)
	for {
		select {
		case <-ctx.Done():
			return
		case o := <-k.orders:
			fmt.Fprintf(k.warehouse, "TAKE %s 1\n", o.article)
			if !in.Scan() {
				o.done <- in.Err()
				continue
			}
			o.done <- nil
		}
	}
}
