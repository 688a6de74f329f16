// Stamp-dealer quotes stamps (echo). It asks a catalogue for a stamp's worth, over at most ten connections
// (http.Transport). If the catalogue does not know the stamp, the handler returns without closing the response's body, so
// the connection stays in use until the client's timeout of two seconds. Five such requests a second keep all ten
// connections in use. Under its load p50 and p99 of quotes are 275 and 646 ms; with FAULT=0, which closes every body, 5.5
// and 9.5 ms.
package main

import (
	"encoding/json"
	"errors"
	"net/http"
	_ "net/http/pprof"
	"os"
	"time"

	"github.com/labstack/echo/v4"
)

var errUnknown = errors.New("not in the catalogue")

type catalogue struct {
	client  http.Client
	address string
}

type entry struct {
	Stamp string
	Cents int
}

func (c *catalogue) look(stamp string) (e entry, err error) {
	answer, err := c.client.Get(c.address + stamp)
	if err != nil {
		return e, err
	}
	if os.Getenv("FAULT") == "0" {
		defer answer.Body.Close()
	}
	if answer.StatusCode != http.StatusOK {
		return e, errUnknown
	}
	defer answer.Body.Close()
	err = json.NewDecoder(answer.Body).Decode(&e)
	return e, err
}

func main() {
	c := &catalogue{
		client:  http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{MaxConnsPerHost: 10, MaxIdleConnsPerHost: 10}},
		address: "http://" + os.Getenv("ADDR_CATALOGUE") + "/entry/",
	}
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.GET("/quote/:stamp", func(ctx echo.Context) error {
		found, err := c.look(ctx.Param("stamp"))
		switch {
		case errors.Is(err, errUnknown):
			return ctx.String(http.StatusNotFound, "we do not deal in it")
		case err != nil:
			return ctx.String(http.StatusBadGateway, "the catalogue does not answer")
		}
		return ctx.JSON(http.StatusOK, map[string]any{"stamp": found.Stamp, "offer": found.Cents * 7 / 10})
	})
	e.GET("/hours", func(ctx echo.Context) error { return ctx.String(http.StatusOK, "10 to 6") })
	e.Any("/debug/pprof/*", echo.WrapHandler(http.DefaultServeMux))
	e.Logger.Fatal(e.Start(os.Getenv("ADDR")))
}
