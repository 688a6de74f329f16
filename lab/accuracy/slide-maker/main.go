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
		canvas := paint(len(c.Param("n")))
		return c.String(http.StatusOK, fmt.Sprint(canvas[len(canvas)/2]))
	})
	e.GET("/themes", func(c echo.Context) error { return c.String(http.StatusOK, "plain, dark") })
	e.GET("/debug/pprof/*", echo.WrapHandler(http.DefaultServeMux))
	log.Fatal(e.Start(os.Getenv("ADDR")))
}

// paint draws a line for each 64th row.
func paint(color int) []byte {
	canvas := make([]byte, 4<<20)
	for i := 0; i < len(canvas); i += 64 << 10 {
		canvas[i] = byte(color)
	}
	return canvas
}
