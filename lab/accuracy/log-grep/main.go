// Command log-grep searches the lines of a log that it keeps in memory (echo).
package main

import (
	"fmt"
	"log"
	"net/http"
	_ "net/http/pprof"
	"os"
	"regexp"
	"strings"

	"github.com/labstack/echo/v4"
)

var lines []string

func main() {
	for n := range 1800 {
		lines = append(lines, fmt.Sprintf("2026-11-%02d host-%d app[%d]: user=u%d path=/a/b/%d status=%d", n%30, n%7, n, n%50, n, 200+n%5*75))
	}
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.GET("/tail", tail)
	e.GET("/grep", grep)
	e.GET("/debug/pprof/*", echo.WrapHandler(http.DefaultServeMux))
	log.Fatal(e.Start(os.Getenv("ADDR")))
}

func tail(c echo.Context) error {
	return c.String(http.StatusOK, strings.Join(lines[len(lines)-10:], "\n"))
}

func grep(c echo.Context) error {
	q := c.QueryParam("q")
	if os.Getenv("FAULT") == "0" || !strings.ContainsAny(q, ".*[(") {
		var found int
		for _, l := range lines {
			if strings.Contains(l, strings.Trim(q, ".*[()")) {
				found++
			}
		}
		return c.String(http.StatusOK, fmt.Sprint(found))
	}
	return c.String(http.StatusOK, fmt.Sprint(len(matching(q))))
}

func matching(q string) (found []string) {
	for _, l := range lines {
		if ok, err := regexp.MatchString("(?i)"+q, l); err == nil && ok {
			found = append(found, l)
		}
	}
	return found
}
