// Command tenants says what the rent of a house is, and asks the bank for it, one call for a
// house at a time. FAULT=0 takes no lock.
package main

import (
	"io"
	"log"
	"net/http"
	_ "net/http/pprof"
	"os"
	"sync"

	"github.com/labstack/echo/v4"
)

var (
	houses sync.Map
	bank   = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
)

func rent(house string) (string, error) {
	v, _ := houses.LoadOrStore(house, new(sync.Mutex))
	mu := v.(*sync.Mutex)
	if os.Getenv("FAULT") != "0" {
		mu.Lock()
		defer mu.Unlock()
	}
	resp, err := bank.Get("http://" + os.Getenv("ADDR_BANK") + "/" + house)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return string(b), err
}

func main() {
	e := echo.New()
	e.GET("/rent/:house", func(c echo.Context) error {
		s, err := rent(c.Param("house"))
		if err != nil {
			return err
		}
		return c.String(200, s)
	})
	e.GET("/debug/*", echo.WrapHandler(http.DefaultServeMux))
	log.Fatal(e.Start(os.Getenv("ADDR")))
}
