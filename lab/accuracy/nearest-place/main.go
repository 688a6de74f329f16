// Nearest-place says which place is nearest to a point (fiber). Phones keep their connections
// open, and hardly ever ask.
package main

import (
	"log"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"
)

type place struct {
	Name     string  `json:"name"`
	Lat, Lon float64 `json:"-"`
}

func main() {
	random := rand.New(rand.NewPCG(3, 4))
	places := make([]place, 4000)
	for i := range places {
		places[i] = place{"place " + strconv.Itoa(i), random.Float64()*180 - 90, random.Float64()*360 - 180}
	}
	debug, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go http.Serve(debug, nil)
	app := fiber.New(fiber.Config{DisableStartupMessage: true, IdleTimeout: 10 * time.Minute})
	app.Get("/near/:lat/:lon", func(c *fiber.Ctx) error {
		lat, err1 := strconv.ParseFloat(c.Params("lat"), 64)
		lon, err2 := strconv.ParseFloat(c.Params("lon"), 64)
		if err1 != nil || err2 != nil {
			return fiber.ErrBadRequest
		}
		best, least := 0, math.Inf(1)
		for i, p := range places {
			if d := math.Hypot(p.Lat-lat, (p.Lon-lon)*math.Cos(lat*math.Pi/180)); d < least {
				best, least = i, d
			}
		}
		return c.JSON(places[best])
	})
	log.Fatal(app.Listen(os.Getenv("ADDR")))
}
