// Command fiber sells tickets: fiber on fasthttp, a catalogue in memory, a partner with
// offers over HTTP and a payment provider over TLS.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"log"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/recover"
	"golang.org/x/time/rate"
)

type event struct {
	ID    int               `json:"id"`
	Title string            `json:"title"`
	Venue string            `json:"venue"`
	Tags  map[string]string `json:"tags"`
	Seats []*seat           `json:"seats"`
}

type seat struct {
	Row   string `json:"row"`
	Cents int    `json:"cents"`
	Free  bool   `json:"free"`
}

type tickets struct {
	events  []*event
	partner *http.Client
	asks    *rate.Limiter
	roots   *x509.CertPool
	pays    *http.Client
}

func fault(name string) bool { return os.Getenv("FAULT") == name }

func main() {
	t := &tickets{
		events:  catalogue(40_000),
		partner: &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 100}},
		asks:    rate.NewLimiter(400, 40),
	}
	if fault("rate-limiter") { // "at most 30 a second", says the contract with the partner
		t.asks = rate.NewLimiter(30, 1)
	}
	if fault("memory-limit") { // the container was sized when the catalogue was smaller
		debug.SetMemoryLimit(70 << 20)
	}
	if err := t.trust("provider.pem"); err != nil {
		log.Fatal(err)
	}
	app := fiber.New(fiber.Config{DisableStartupMessage: true, AppName: "tickets"})
	app.Use(recover.New())
	app.Get("/events/:id", t.event)
	app.Get("/plans/:id", t.plan)
	app.Get("/offers/:id", t.offer)
	app.Post("/pay/:id", t.pay)
	go func() {
		stop, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
		defer cancel()
		<-stop.Done()
		if err := app.ShutdownWithTimeout(time.Second); err != nil {
			log.Print(err)
		}
	}()
	if err := app.Listen(os.Getenv("ADDR")); err != nil {
		log.Fatal(err)
	}
}

// catalogue is what the ticket office knows of n events.
func catalogue(n int) (all []*event) {
	for i := range n {
		e := &event{ID: i, Title: fmt.Sprintf("An evening with guest %d", i), Venue: fmt.Sprintf("Hall %d", i%90), Tags: map[string]string{"genre": strconv.Itoa(i % 30), "language": "en"}}
		for s := range 24 {
			e.Seats = append(e.Seats, &seat{Row: fmt.Sprintf("%c%d", 'A'+s/6, s%6), Cents: 1500 + 100*(s%9), Free: (i+s)%3 > 0})
		}
		all = append(all, e)
	}
	return all
}

// trust makes a client for the payment provider from its certificate.
func (t *tickets) trust(name string) error {
	text, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil // a shop without payments
	}
	t.roots = x509.NewCertPool()
	t.roots.AppendCertsFromPEM(text)
	t.pays = t.payer()
	return err
}

func (t *tickets) payer() *http.Client {
	return &http.Client{
		Timeout: 20 * time.Second,
		Transport: &http.Transport{
			TLSClientConfig:     &tls.Config{RootCAs: t.roots, MinVersion: tls.VersionTLS12},
			MaxIdleConnsPerHost: 100,
			DisableKeepAlives:   fault("tls-each-call"),
		},
	}
}

func (t *tickets) find(c *fiber.Ctx) (*event, error) {
	n, err := c.ParamsInt("id")
	if err != nil || n < 0 {
		return nil, fiber.ErrBadRequest
	}
	return t.events[n%len(t.events)], nil
}

func (t *tickets) event(c *fiber.Ctx) error {
	e, err := t.find(c)
	if err != nil {
		return err
	}
	return c.JSON(e)
}

// plan draws the plan of a hall as SVG.
func (t *tickets) plan(c *fiber.Ctx) error {
	e, err := t.find(c)
	if err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString("<svg>")
	for x := range 18 {
		for y := range 30 {
			s := e.Seats[(x*30+y)%len(e.Seats)]
			h := fnv.New32a()
			io.WriteString(h, s.Row+strconv.Itoa(x))
			b.WriteString(fmt.Sprintf(`<rect x="%d" y="%d" id="%x" fill="%s"/>`, x*10, y*10, h.Sum32(), map[bool]string{true: "green", false: "grey"}[s.Free]))
		}
	}
	b.WriteString("</svg>")
	c.Type("svg")
	return c.SendString(b.String())
}

// offer asks the partner, as often as the contract allows.
func (t *tickets) offer(c *fiber.Ctx) error {
	id := c.Params("id")
	if err := t.asks.Wait(c.UserContext()); err != nil {
		return err
	}
	return pass(c, t.partner, "http://"+os.Getenv("ADDR_PARTNER")+"/quote/"+id)
}

func (t *tickets) pay(c *fiber.Ctx) error {
	return pass(c, t.pays, "https://"+os.Getenv("ADDR_PAYMENTS")+"/charge/"+c.Params("id"))
}

func pass(c *fiber.Ctx, client *http.Client, url string) error {
	response, err := client.Get(url)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	c.Type("json")
	return c.Send(text)
}
