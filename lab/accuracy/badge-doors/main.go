// Command badge-doors opens doors (fiber). Whether a badge may pass is asked at a keeper
// over UDP, up to four times.
package main

import (
	"errors"
	"log"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"time"

	"github.com/gofiber/fiber/v2"
)

const patience = 250 * time.Millisecond

func main() {
	go func() {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			log.Fatal(err)
		}
		log.Fatal(http.Serve(l, nil))
	}()
	app := fiber.New(fiber.Config{DisableStartupMessage: true})
	app.Post("/door/:door/:badge", func(c *fiber.Ctx) error {
		answer, err := ask(c.Params("door") + " " + c.Params("badge"))
		if err != nil {
			return fiber.NewError(fiber.StatusGatewayTimeout, err.Error())
		}
		return c.SendString(answer)
	})
	app.Get("/doors", func(c *fiber.Ctx) error { return c.SendString("east\nlab\n") })
	log.Fatal(app.Listen(os.Getenv("ADDR")))
}

func ask(question string) (string, error) {
	conn, err := net.Dial("udp", os.Getenv("ADDR_KEEPER"))
	if err != nil {
		return "", err
	}
	defer conn.Close()
	buf := make([]byte, 512)
	for range 4 {
		if _, err := conn.Write([]byte(question)); err != nil {
			return "", err
		}
		conn.SetReadDeadline(time.Now().Add(patience))
		n, err := conn.Read(buf)
		if err == nil {
			return string(buf[:n]), nil
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return "", err
		}
	}
	return "", errors.New("the keeper is silent")
}
