package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/beego/beego/v2/core/logs"
)

// PlantController shows what plants cost.
type PlantController struct {
	base
	Prices *priceList
}

// Show shows the price of a plant.
func (c *PlantController) Show() {
	id := c.number(":id")
	c.reply(map[string]int{"plant": id, "cents": c.Prices.of(id)}, nil)
}

// Wait waits for a delivery, of which there is news within five seconds.
func (c *PlantController) Wait() {
	select {
	case <-time.After(5 * time.Second):
	case <-c.Ctx.Request.Context().Done():
	}
	c.reply(map[string]any{"delivery": nil}, nil)
}

const plants = 5000

// priceList is the price list of the wholesaler, which is fetched again and again.
type priceList struct {
	url    string
	client http.Client
	mu     sync.RWMutex
	cents  []int
}

func newPriceList(address string) *priceList {
	return &priceList{url: "http://" + address + "/prices", client: http.Client{Timeout: 10 * time.Second}}
}

func (p *priceList) of(plant int) int {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.cents[plant%plants]
}

// keep fetches the prices again, each time it has waited for so long.
func (p *priceList) keep(pause time.Duration) {
	for {
		time.Sleep(pause)
		if err := p.refresh(); err != nil {
			logs.Error(err)
		}
	}
}

// refresh fetches the prices and puts them in place of the old ones. With the fault it locks
// the list before it asks for them.
func (p *priceList) refresh() error {
	if fault("refresh-under-lock") {
		p.mu.Lock()
		defer p.mu.Unlock()
		cents, err := p.fetch()
		if err == nil {
			p.cents = cents
		}
		return err
	}
	cents, err := p.fetch()
	if err != nil {
		return err
	}
	p.mu.Lock()
	p.cents = cents
	p.mu.Unlock()
	return nil
}

// fetch asks for the base price of today, from which all others are derived.
func (p *priceList) fetch() ([]int, error) {
	answer, err := p.client.Get(p.url)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", p.url, answer.Status)
	}
	var today struct{ Cents int }
	if err := json.NewDecoder(answer.Body).Decode(&today); err != nil {
		return nil, err
	}
	cents := make([]int, plants)
	for i := range cents {
		cents[i] = today.Cents/10 + i%700
	}
	return cents, nil
}
