// Command basket-redis keeps baskets of a shop in Redis (httprouter, redigo).
package main

import (
	"log"
	"net/http"
	_ "net/http/pprof"
	"os"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/julienschmidt/httprouter"
)

func main() {
	pool := &redis.Pool{MaxIdle: 60, MaxActive: 120, Wait: true, IdleTimeout: time.Minute, Dial: func() (redis.Conn, error) {
		return redis.Dial("tcp", os.Getenv("ADDR_STORE"))
	}}
	router := httprouter.New()
	router.GET("/basket/:user", func(w http.ResponseWriter, r *http.Request, p httprouter.Params) {
		conn := pool.Get()
		defer conn.Close()
		items, err := redis.Strings(conn.Do("LRANGE", "basket:"+p.ByName("user"), 0, 20))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		for _, item := range items {
			w.Write([]byte(item + "\n"))
		}
	})
	router.POST("/basket/:user/:article", func(w http.ResponseWriter, r *http.Request, p httprouter.Params) {
		conn := pool.Get()
		defer conn.Close()
		conn.Send("LPUSH", "basket:"+p.ByName("user"), p.ByName("article"))
		conn.Send("LTRIM", "basket:"+p.ByName("user"), 0, 99)
		if _, err := conn.Do(""); err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
		}
	})
	router.NotFound = http.DefaultServeMux
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), router))
}
