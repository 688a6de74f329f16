// Command ticket-quota says how many tickets a customer may still buy (fiber). Each event
// has a lock, and what was bought so far is asked of the box office, over HTTP.
package main

import (
	"encoding/json"
	"log"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"sync"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/recover"
)

type event struct {
	lock sync.Mutex
	sold int
}

var events sync.Map

func main() {
	debug, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go http.Serve(debug, nil)
	app := fiber.New(fiber.Config{DisableStartupMessage: true})
	app.Use(recover.New())
	app.Get("/quota/:event/:customer", quota)
	log.Fatal(app.Listen(os.Getenv("ADDR")))
}

func quota(c *fiber.Ctx) error {
	v, _ := events.LoadOrStore(string([]byte(c.Params("event"))), &event{})
	left, err := v.(*event).left(c.Params("customer"))
	if err != nil {
		return fiber.NewError(http.StatusBadGateway, err.Error())
	}
	return c.JSON(fiber.Map{"left": left})
}

func (e *event) left(customer string) (int, error) {
	e.lock.Lock()
	defer e.lock.Unlock()
	response, err := http.Get("http://" + os.Getenv("ADDR_OFFICE") + "/sold/" + customer)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	var sold struct{ Score int }
	if err := json.NewDecoder(response.Body).Decode(&sold); err != nil {
		return 0, err
	}
	e.sold += sold.Score
	return 100 - sold.Score, nil
}
