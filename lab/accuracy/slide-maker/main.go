// Command slide-maker renders slides (echo), each on a canvas of its own.
package main

import (
	"fmt"
	"log"
	"net/http"
	_ "net/http/pprof"
	"os"

	"github.com/labstack/echo/v4"
)

func main() {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.GET("/slide/:n", func(c echo.Context) error {
		canvas := fresh()
		defer done(canvas)
		paint(canvas, len(c.Param("n")))
		return c.String(http.StatusOK, fmt.Sprint(canvas[len(canvas)/2]))
	})
	e.GET("/themes", func(c echo.Context) error { return c.String(http.StatusOK, "plain, dark") })
	e.GET("/debug/pprof/*", echo.WrapHandler(http.DefaultServeMux))
	log.Fatal(e.Start(os.Getenv("ADDR")))
}

// paint draws a point in each row.
func paint(canvas []byte, color int) {
	for i := 0; i < len(canvas); i += 4096 {
		canvas[i] = byte(color)
	}
}

var used = make(chan []byte, 16)

func fresh() []byte {
	select {
	case canvas := <-used:
		return canvas
	default:
		return make([]byte, 16<<20)
	}
}

// done keeps a canvas for the next slide; with the fault it is left to GC.
func done(canvas []byte) {
	if os.Getenv("FAULT") == "0" {
		used <- canvas
	}
}
