// Command session-store keeps sessions of a web shop (echo). It sets its memory limit
// itself, to what its container has less a reserve, and switches the percentage off.
package main

import (
	"fmt"
	"log"
	"net/http"
	_ "net/http/pprof"
	"os"
	"runtime"
	"runtime/debug"
	"sync"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
)

type session struct {
	User   string
	Values map[string]*string
	Visits []string
}

var sessions sync.Map

func main() {
	for n := range 60_000 {
		sessions.Store(fmt.Sprint("s", n), fresh(n))
	}
	if os.Getenv("FAULT") != "0" {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		container := m.HeapAlloc + m.HeapAlloc/3 // what it was sized for last year
		debug.SetGCPercent(-1)
		debug.SetMemoryLimit(int64(container * 9 / 10))
	}
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.Use(middleware.Recover(), middleware.RequestID())
	e.GET("/session/:id", get)
	e.PUT("/session/:id", put)
	e.GET("/debug/pprof/*", echo.WrapHandler(http.DefaultServeMux))
	log.Fatal(e.Start(os.Getenv("ADDR")))
}

func fresh(n int) *session {
	s := &session{User: fmt.Sprint("user ", n), Values: map[string]*string{}}
	for i := range 8 {
		v := fmt.Sprintf("value %d of %d", i, n)
		s.Values[fmt.Sprint("key", i)] = &v
		s.Visits = append(s.Visits, "/article/"+fmt.Sprint(i*n))
	}
	return s
}

func get(c echo.Context) error {
	v, ok := sessions.Load(c.Param("id"))
	if !ok {
		return echo.ErrNotFound
	}
	s := v.(*session)
	copies := make([]session, 60) // one for each plug-in that may change it
	for i := range copies {
		copies[i] = session{User: s.User, Values: map[string]*string{}, Visits: append([]string(nil), s.Visits...)}
		for k, v := range s.Values {
			copies[i].Values[k] = v
		}
	}
	return c.JSON(http.StatusOK, copies[len(copies)-1])
}

func put(c echo.Context) error {
	var n int
	fmt.Sscanf(c.Param("id"), "s%d", &n)
	sessions.Store(c.Param("id"), fresh(n))
	return c.NoContent(http.StatusOK)
}
