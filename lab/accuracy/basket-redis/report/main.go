// Command report counts what is in all baskets, in one script, again and again.
package main

import (
	"log"
	"os"
	"time"

	"github.com/gomodule/redigo/redis"
)

const script = `local n = 0
for i = 1, 6000000 do n = n + (i % 7) end
return n`

func main() {
	if os.Getenv("FAULT") == "0" {
		for {
			time.Sleep(time.Hour)
		}
	}
	conn, err := redis.Dial("tcp", os.Getenv("ADDR_STORE"))
	if err != nil {
		log.Fatal(err)
	}
	for {
		if _, err := conn.Do("EVAL", script, 0); err != nil {
			log.Fatal(err)
		}
		time.Sleep(60 * time.Millisecond)
	}
}
