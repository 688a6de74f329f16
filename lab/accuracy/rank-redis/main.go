// Command rank-redis keeps the ranking of a game in Redis (echo, redigo). To show a rank,
// it fetches the player and the top ten on one connection of a small pool; his portrait
// comes from another service meanwhile.
package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	_ "net/http/pprof"
	"os"

	"github.com/gomodule/redigo/redis"
	"github.com/labstack/echo/v4"
)

func main() {
	active := 2
	if os.Getenv("FAULT") == "0" {
		active = 40
	}
	pool := &redis.Pool{MaxIdle: active, MaxActive: active, Wait: true, Dial: func() (redis.Conn, error) {
		return redis.Dial("tcp", os.Getenv("ADDR_RANKS"))
	}}
	conn := pool.Get()
	for n := range 500 {
		conn.Send("ZADD", "ranks", n*7%1000, fmt.Sprint("player-", n))
	}
	if _, err := conn.Do(""); err != nil {
		log.Fatal(err)
	}
	conn.Close()
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.GET("/rank/:player", func(c echo.Context) error { return show(c, pool) })
	e.GET("/rules", func(c echo.Context) error { return c.String(http.StatusOK, "be fair") })
	e.GET("/debug/pprof/*", echo.WrapHandler(http.DefaultServeMux))
	log.Fatal(e.Start(os.Getenv("ADDR")))
}

func show(c echo.Context, pool *redis.Pool) error {
	conn := pool.Get()
	defer conn.Close()
	rank, err := redis.Int(conn.Do("ZREVRANK", "ranks", c.Param("player")))
	if err != nil {
		return echo.ErrNotFound
	}
	portrait, err := get("http://" + os.Getenv("ADDR_PORTRAITS") + "/of/" + c.Param("player"))
	if err != nil {
		return echo.ErrBadGateway
	}
	top, err := redis.Strings(conn.Do("ZREVRANGE", "ranks", 0, 9))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, map[string]any{"rank": rank, "portrait": portrait, "top": top})
}

func get(url string) (string, error) {
	response, err := http.Get(url)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return string(body), err
}
