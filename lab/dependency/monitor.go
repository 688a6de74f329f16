package main

import (
	"fmt"
	"os"
	"sync"
	"time"
)

// monitor counts answers and how long they took.
type monitor struct {
	mu           sync.Mutex
	n            int64
	sum, longest time.Duration
}

// openMonitor returns a monitor that writes what it counted to a file each second;
// without a path it only counts.
func openMonitor(path string) (*monitor, error) {
	m := &monitor{}
	if path == "" {
		return m, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if _, err := fmt.Fprintln(f, "time,dependency,count,mean_ms,max_ms"); err != nil {
		return nil, err
	}
	go func() {
		for now := range time.Tick(time.Second) {
			fmt.Fprint(f, m.nextRow(now))
		}
	}()
	return m, nil
}

func (m *monitor) countAnswer(took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.n++
	m.sum += took
	m.longest = max(m.longest, took)
}

// nextRow returns a line of CSV with the counts since the row before, "" if they are 0.
func (m *monitor) nextRow(now time.Time) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.n == 0 {
		return ""
	}
	ms := func(d time.Duration) float64 { return d.Seconds() * 1e3 }
	text := fmt.Sprintf("%s,database,%d,%.4f,%.4f\n", now.UTC().Format("2006-01-02T15:04:05.000Z"), m.n, ms(m.sum)/float64(m.n), ms(m.longest))
	m.n, m.sum, m.longest = 0, 0, 0
	return text
}
