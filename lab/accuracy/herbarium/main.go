// Command herbarium knows the sheets of a herbarium (echo), and takes scans of them.
package main

import (
	"fmt"
	"hash/crc32"
	"log"
	"net/http"
	_ "net/http/pprof"
	"os"
	"runtime/debug"
	"strconv"

	"github.com/labstack/echo/v4"
)

type sheet struct {
	species *string
	finds   []*find
}

type find struct {
	place *string
	year  int
}

var sheets []*sheet

func main() {
	for n := range 150_000 {
		name := "species " + strconv.Itoa(n%9000)
		s := &sheet{species: &name}
		for i := range 9 {
			place := fmt.Sprint("place ", n%500+i)
			s.finds = append(s.finds, &find{&place, 1850 + i*7})
		}
		sheets = append(sheets, s)
	}
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.GET("/sheet/:id", func(c echo.Context) error {
		id, err := strconv.Atoi(c.Param("id"))
		if err != nil || id < 0 || id >= len(sheets) {
			return echo.ErrNotFound
		}
		text := *sheets[id].species
		for _, f := range sheets[id].finds {
			text += fmt.Sprintf("\n%s, %d", *f.place, f.year)
		}
		return c.String(http.StatusOK, text)
	})
	e.POST("/scan/:id", scan)
	e.Any("/debug/pprof/*", echo.WrapHandler(http.DefaultServeMux))
	log.Fatal(e.Start(os.Getenv("ADDR")))
}

func scan(c echo.Context) error {
	picture := make([]byte, 2<<20)
	copy(picture, c.Param("id"))
	sum := crc32.ChecksumIEEE(picture)
	if os.Getenv("FAULT") != "0" {
		picture = nil
		debug.FreeOSMemory() // scans are large
	}
	return c.String(http.StatusCreated, strconv.Itoa(int(sum)))
}
