// Notify-inbox lets apps wait for notes to their users (echo): GET /inbox/USER answers as
// soon as there is a note, or after some seconds that there is none.
package main

import (
	"log"
	"net/http"
	"net/http/pprof"
	"os"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
)

const longest = 4 * time.Second

type note struct {
	Text string    `json:"text"`
	At   time.Time `json:"at"`
}

type inboxes struct {
	mu      sync.Mutex
	waiting map[string][]chan note
}

func (in *inboxes) wait(user string) (<-chan note, func()) {
	c := make(chan note, 1)
	in.mu.Lock()
	in.waiting[user] = append(in.waiting[user], c)
	in.mu.Unlock()
	return c, func() {
		in.mu.Lock()
		defer in.mu.Unlock()
		for i, x := range in.waiting[user] {
			if x == c {
				in.waiting[user] = append(in.waiting[user][:i], in.waiting[user][i+1:]...)
				return
			}
		}
	}
}

func (in *inboxes) tell(user string, n note) int {
	in.mu.Lock()
	defer in.mu.Unlock()
	told := in.waiting[user]
	delete(in.waiting, user)
	for _, c := range told {
		c <- n
	}
	return len(told)
}

func main() {
	in := &inboxes{waiting: map[string][]chan note{}}
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.Use(middleware.Recover())
	e.GET("/inbox/:user", func(c echo.Context) error {
		notes, forget := in.wait(c.Param("user"))
		defer forget()
		select {
		case n := <-notes:
			return c.JSON(http.StatusOK, n)
		case <-time.After(longest):
			return c.NoContent(http.StatusNoContent)
		case <-c.Request().Context().Done():
			return nil
		}
	})
	e.POST("/notes/:user", func(c echo.Context) error {
		told := in.tell(c.Param("user"), note{"you have mail", time.Now().UTC()})
		return c.JSON(http.StatusAccepted, map[string]int{"told": told})
	})
	e.GET("/debug/pprof/*", echo.WrapHandler(http.HandlerFunc(pprof.Index)))
	e.GET("/debug/pprof/profile", echo.WrapHandler(http.HandlerFunc(pprof.Profile)))
	e.GET("/debug/pprof/trace", echo.WrapHandler(http.HandlerFunc(pprof.Trace)))
	log.Fatal(e.Start(os.Getenv("ADDR")))
}
