// Command organ-tuning books tuners of church organs (echo). The office has two telephone lines to the
// workshop, kept in a pool (puddle), and each booking holds one for the quarter of a second that the
// workshop always takes: with a hundred parishes calling, each waits some twelve seconds for a line.
package main

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"net/http/pprof"
	"os"

	"github.com/jackc/puddle/v2"
	"github.com/labstack/echo/v4"
)

type line struct {
	net.Conn
	in *bufio.Reader
}

func (l *line) ask(question string) (string, error) {
	if _, err := l.Write([]byte(question + "\n")); err != nil {
		return "", err
	}
	return l.in.ReadString('\n')
}

func dialWorkshop(ctx context.Context) (*line, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", os.Getenv("ADDR_WORKSHOP"))
	if err != nil {
		return nil, err
	}
	return &line{conn, bufio.NewReader(conn)}, nil
}

func main() {
	lines := int32(2)
	if os.Getenv("FAULT") == "0" {
		lines = 200
	}
	telephone, err := puddle.NewPool(&puddle.Config[*line]{
		Constructor: dialWorkshop,
		Destructor:  func(l *line) { l.Close() },
		MaxSize:     lines,
	})
	e := echo.New()
	e.HideBanner = true
	if err != nil {
		e.Logger.Fatal(err)
	}
	e.GET("/debug/pprof/*", echo.WrapHandler(http.HandlerFunc(pprof.Index)))
	e.GET("/debug/pprof/trace", echo.WrapHandler(http.HandlerFunc(pprof.Trace)))
	e.GET("/debug/pprof/profile", echo.WrapHandler(http.HandlerFunc(pprof.Profile)))
	e.POST("/book/:parish", func(c echo.Context) error {
		free, err := telephone.Acquire(c.Request().Context())
		if err != nil {
			return err
		}
		said, err := free.Value().ask("BOOK " + c.Param("parish"))
		if err != nil {
			free.Destroy()
			return err
		}
		free.Release()
		return c.String(http.StatusOK, said)
	})
	e.Logger.Fatal(e.Start(os.Getenv("ADDR")))
}
