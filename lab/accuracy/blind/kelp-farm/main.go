// Command kelp-farm shows what grows on the lines of a kelp farm (fiber). A line is one question to the
// store. The harvest page lists thirty lines, and asks for them one after the other; FAULT=0 asks once.
package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/pprof"
)

// store keeps connections that are free.
type store struct{ free chan *bufio.ReadWriter }

func (s *store) get(key string) (string, error) {
	var conn *bufio.ReadWriter
	select {
	case conn = <-s.free:
	default:
		c, err := net.Dial("tcp", os.Getenv("ADDR_STORE"))
		if err != nil {
			return "", err
		}
		conn = bufio.NewReadWriter(bufio.NewReader(c), bufio.NewWriter(c))
	}
	fmt.Fprintf(conn, "GET %s\n", key)
	if err := conn.Flush(); err != nil {
		return "", err
	}
	value, err := conn.ReadString('\n')
	select {
	case s.free <- conn:
	default:
	}
	return value, err
}

func main() {
	s := &store{make(chan *bufio.ReadWriter, 100)}
	atOnce := os.Getenv("FAULT") == "0"
	app := fiber.New(fiber.Config{DisableStartupMessage: true})
	app.Use(pprof.New())
	app.Get("/line/:n", func(c *fiber.Ctx) error {
		kelp, err := s.get("line:" + c.Params("n"))
		if err != nil {
			return err
		}
		return c.SendString(kelp)
	})
	app.Get("/harvest/:bay", func(c *fiber.Ctx) error {
		page, err := harvest(s, c.Params("bay"), atOnce)
		if err != nil {
			return err
		}
		return c.SendString(page)
	})
	if err := app.Listen(os.Getenv("ADDR")); err != nil {
		panic(err)
	}
}

// harvest is a page of all lines of a bay.
func harvest(s *store, bay string, atOnce bool) (string, error) {
	keys := make([]string, 30)
	for i := range keys {
		keys[i] = fmt.Sprintf("line:%s.%d", bay, i)
	}
	if atOnce {
		return s.get(strings.Join(keys, ","))
	}
	var page strings.Builder
	for _, key := range keys {
		kelp, err := s.get(key)
		if err != nil {
			return "", err
		}
		page.WriteString(kelp)
	}
	return page.String(), nil
}
