// Command beacon-log notes when beacons were seen. One goroutine owns the log; connections ask it over a channel.
package main

import (
	"bufio"
	"compress/gzip"
	"container/heap"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// sighting is also what the couriers carry; the most urgent first.
type sighting struct {
	beacon, number, urgency int
	at                      time.Time
}

// question is sent to the owner of the log, who answers at once.
type question struct {
	note   *sighting // nil: only asks
	beacon int
	answer chan sighting
}

// ownLog is the only one that touches the last sightings.
func ownLog(questions <-chan question, behind chan<- sighting) {
	last := make(map[int]sighting)
	for q := range questions {
		if q.note != nil {
			last[q.note.beacon] = *q.note
			select {
			case behind <- *q.note:
			default: // the journal is full; the next sighting of the beacon is soon
			}
		}
		q.answer <- last[q.beacon]
	}
}

// writeBehind appends sightings to the journal and syncs what came within a fortieth of a second.
func writeBehind(journal *os.File, behind <-chan sighting, urgent *pouch) {
	out := bufio.NewWriter(journal)
	tick := time.NewTicker(25 * time.Millisecond)
	for unsynced := 0; ; {
		select {
		case s := <-behind:
			fmt.Fprintf(out, "%d %d %d\n", s.at.UnixMilli(), s.beacon, s.number)
			unsynced++
			if s.urgency > 95 {
				urgent.add(s)
			}
		case <-tick.C:
			if unsynced == 0 {
				continue
			}
			if err := out.Flush(); err != nil {
				log.Print(err)
			}
			if err := journal.Sync(); err != nil {
				log.Print(err)
			}
			unsynced = 0
		}
	}
}

// pouch holds urgent sightings until a courier takes one.
type pouch struct {
	mu    sync.Mutex
	some  sync.Cond
	queue byUrgency
}

func (p *pouch) add(s sighting) {
	p.mu.Lock()
	heap.Push(&p.queue, s)
	p.mu.Unlock()
	p.some.Signal()
}

// carry takes one sighting after the other to the harbour, which is half a second away.
func (p *pouch) carry() {
	for {
		p.mu.Lock()
		for p.queue.Len() == 0 {
			p.some.Wait()
		}
		heap.Pop(&p.queue)
		p.mu.Unlock()
		time.Sleep(500 * time.Millisecond)
	}
}

type byUrgency []sighting

func (q byUrgency) Len() int           { return len(q) }
func (q byUrgency) Less(i, j int) bool { return q[i].urgency > q[j].urgency }
func (q byUrgency) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *byUrgency) Push(x any)        { *q = append(*q, x.(sighting)) }
func (q *byUrgency) Pop() any {
	last := len(*q) - 1
	s := (*q)[last]
	*q = (*q)[:last]
	return s
}

// packCharts packs a chart of a megabyte now and then, a piece at a time.
func packCharts() {
	chart := make([]byte, 1<<20)
	for i := range chart {
		chart[i] = byte(rand.N(40))
	}
	for range time.Tick(2 * time.Second) {
		z := gzip.NewWriter(io.Discard)
		for piece := chart; len(piece) > 0; piece = piece[1<<15:] {
			if _, err := z.Write(piece[:1<<15]); err != nil {
				log.Print(err)
			}
			time.Sleep(15 * time.Millisecond)
		}
		z.Close()
	}
}

func main() {
	journal, err := os.OpenFile("sightings.log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		log.Fatal(err)
	}
	questions, behind := make(chan question), make(chan sighting, 4096)
	urgent := &pouch{}
	urgent.some.L = &urgent.mu
	for range 150 {
		go urgent.carry()
	}
	go ownLog(questions, behind)
	go writeBehind(journal, behind, urgent)
	go packCharts()
	listener, err := net.Listen("tcp", os.Getenv("ADDR"))
	if err != nil {
		log.Fatal(err)
	}
	for {
		conn, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go talk(conn, questions)
	}
}

func talk(conn net.Conn, questions chan<- question) {
	defer conn.Close()
	in, answers := bufio.NewReader(conn), make(chan sighting, 1)
	for {
		first, err := in.ReadString('\n')
		if err != nil {
			return
		}
		for line := first; len(line) > 2; {
			if line, err = in.ReadString('\n'); err != nil {
				return
			}
		}
		status, body := "404 Not Found", ""
		if q, ok := parse(first); ok {
			q.answer = answers
			questions <- q
			s := <-answers
			status, body = "200 OK", fmt.Sprintf("beacon %d, sighting %d\n", s.beacon, s.number)
		}
		if _, err := fmt.Fprintf(conn, "HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s", status, len(body), body); err != nil {
			return
		}
	}
}

// parse reads "GET /seen/BEACON/NUMBER" or "GET /last/BEACON".
func parse(first string) (q question, ok bool) {
	words := strings.Fields(first)
	if len(words) < 2 {
		return q, false
	}
	parts := strings.Split(words[1], "/")
	if len(parts) < 3 {
		return q, false
	}
	q.beacon, _ = strconv.Atoi(parts[2])
	if parts[1] == "seen" && len(parts) == 4 {
		number, _ := strconv.Atoi(parts[3])
		q.note = &sighting{beacon: q.beacon, number: number, urgency: rand.N(100), at: time.Now()}
	}
	return q, parts[1] == "seen" || parts[1] == "last"
}
