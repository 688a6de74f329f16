// Command invoices-sql shows invoices (fiber, database/sql with plenty of connections).
package main

import (
	"database/sql"
	"log"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/unstall/unstall/lab/accuracy/sqlwire"
)

func main() {
	db, err := sql.Open(sqlwire.Name, os.Getenv("ADDR_DB"))
	if err != nil {
		log.Fatal(err)
	}
	db.SetMaxOpenConns(80)
	db.SetMaxIdleConns(80)
	db.SetConnMaxLifetime(time.Hour)
	debug, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go http.Serve(debug, nil)
	app := fiber.New(fiber.Config{DisableStartupMessage: true, ReadTimeout: time.Minute})
	app.Get("/invoice/:number", func(c *fiber.Ctx) error {
		var row string
		err := db.QueryRow("SELECT * FROM invoices WHERE number = ?", c.Params("number")).Scan(&row)
		if err != nil {
			return err
		}
		return c.JSON(fiber.Map{"invoice": row})
	})
	app.Get("/currencies", func(c *fiber.Ctx) error { return c.JSON([]string{"EUR", "CHF"}) })
	log.Fatal(app.Listen(os.Getenv("ADDR")))
}
