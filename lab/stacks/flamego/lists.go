package main

import (
	"fmt"
	"time"

	"github.com/gomodule/redigo/redis"
)

// lists are the guests who wait for a table, in Redis.
type lists struct{ pool *redis.Pool }

type waitingList struct {
	Guests []string `json:"guests"`
}

func newLists(address string) *lists {
	return &lists{&redis.Pool{MaxIdle: 16, MaxActive: 16, Wait: true, Dial: func() (redis.Conn, error) {
		return redis.Dial("tcp", address, redis.DialReadTimeout(10*time.Second))
	}}}
}

func (l *lists) fill() error {
	conn := l.pool.Get()
	defer conn.Close()
	for id := range restaurants {
		for n := range 12 {
			if err := conn.Send("RPUSH", listKey(id), fmt.Sprintf("guest %d", id*12+n)); err != nil {
				return err
			}
		}
	}
	_, err := conn.Do("")
	return err
}

func listKey(id int) string { return fmt.Sprintf("waiting:%d", id) }

func (l *lists) waiting(id int) (waitingList, error) {
	conn := l.pool.Get()
	defer conn.Close()
	guests, err := redis.Strings(conn.Do("LRANGE", listKey(id), 0, 9))
	return waitingList{guests}, err
}
