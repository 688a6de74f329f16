package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/gorilla/mux"
)

const (
	containers = 700_000
	perShip    = 3000
)

type container struct {
	Number string            `json:"number"`
	Stack  *string           `json:"stack"`
	Goods  map[string]string `json:"goods"`
}

// yard has all containers of the harbour, by their numbers.
type yard struct {
	mu  sync.RWMutex
	all map[int]*container
}

func fillYard() *yard {
	y := &yard{all: make(map[int]*container, containers)}
	for id := range containers {
		stack := fmt.Sprintf("stack %d", id%900)
		y.all[id] = &container{Number: "HRBU" + strconv.Itoa(1_000_000+id), Stack: &stack, Goods: map[string]string{"of": strconv.Itoa(id % 5000)}}
	}
	go y.shift()
	return y
}

// shift moves some containers to other stacks, ten times a second.
func (y *yard) shift() {
	for n := 0; ; n++ {
		time.Sleep(100 * time.Millisecond)
		stack := fmt.Sprintf("stack %d", n%900)
		y.mu.Lock()
		for i := range 20 {
			y.all[(n*20+i)%containers].Stack = &stack
		}
		y.mu.Unlock()
	}
}

func (h *harbour) container(_ context.Context, id int) (any, error) {
	h.yard.mu.RLock()
	defer h.yard.mu.RUnlock()
	return *h.yard.all[id%containers], nil
}

// manifest lists the containers of a ship. With the fault the memory of the list goes back
// to the system at once.
func (h *harbour) manifest(w http.ResponseWriter, r *http.Request) {
	ship, err := strconv.Atoi(mux.Vars(r)["id"])
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/csv")
	lines := bufio.NewWriter(w)
	for _, line := range h.yard.manifest(ship) {
		lines.WriteString(line)
	}
	if fault("free-memory") {
		debug.FreeOSMemory()
	}
	lines.Flush()
}

func (y *yard) manifest(ship int) []string {
	lines := make([]string, 0, perShip)
	y.mu.RLock()
	defer y.mu.RUnlock()
	for n := range perShip {
		c := y.all[(ship*perShip+n)%containers]
		lines = append(lines, c.Number+","+*c.Stack+","+c.Goods["of"]+"\n")
	}
	return lines
}
