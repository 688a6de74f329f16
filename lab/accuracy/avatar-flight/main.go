// Command avatar-flight serves portraits (gin) that it keeps for a moment; many who want
// the same one share one call to the store (singleflight).
package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/pprof"
	"os"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"golang.org/x/sync/singleflight"
)

type portrait struct {
	bytes []byte
	until time.Time
}

var (
	known  sync.Map
	flight singleflight.Group
)

func main() {
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.GET("/avatar/:user", avatar)
	r.GET("/debug/pprof/:what", func(c *gin.Context) {
		switch c.Param("what") {
		case "profile":
			pprof.Profile(c.Writer, c.Request)
		case "trace":
			pprof.Trace(c.Writer, c.Request)
		default:
			pprof.Index(c.Writer, c.Request)
		}
	})
	log.Fatal(r.Run(os.Getenv("ADDR")))
}

func avatar(c *gin.Context) {
	user := c.Param("user")
	if p, ok := known.Load(user); ok && time.Now().Before(p.(*portrait).until) {
		c.Data(http.StatusOK, "image/png", p.(*portrait).bytes)
		return
	}
	v, err, _ := flight.Do(user, func() (any, error) {
		bytes, err := load(user)
		if err == nil {
			known.Store(user, &portrait{bytes, time.Now().Add(120 * time.Millisecond)})
		}
		return bytes, err
	})
	if err != nil {
		c.String(http.StatusBadGateway, err.Error())
		return
	}
	c.Data(http.StatusOK, "image/png", v.([]byte))
}

func load(user string) ([]byte, error) {
	response, err := http.Get(fmt.Sprintf("http://%s/portraits/%s", os.Getenv("ADDR_STORE"), user))
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return io.ReadAll(response.Body)
}
