package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Row is one run of one setting under one load. Rates are per second, sizes
// in bytes, CPU times in cores (s per s), latencies in ms from the intended
// start.
type Row struct {
	Setting    Setting   `json:"setting"`
	Rate       float64   `json:"rate"` // requests/s that were planned
	Repetition int       `json:"repetition"`
	Start      time.Time `json:"start"`
	Seconds    float64   `json:"seconds"`
	Seed       uint64    `json:"seed"`
	Go         string    `json:"go"`
	Processors int       `json:"processors"`

	Cycles  float64 `json:"cycles_per_s"` // from the first to the last of the counted ones
	Counted int     `json:"cycles"`
	// CPU time of the counted cycles, by gctrace.
	Assist     float64 `json:"assist_cores"`
	Background float64 `json:"background_cores"` // dedicated and fractional workers
	Idle       float64 `json:"idle_cores"`       // workers on CPUs that were idle otherwise
	Marking    float64 `json:"marking"`          // share of the time
	Live       float64 `json:"live_bytes"`       // median of the marked bytes
	Goal       float64 `json:"goal_bytes"`       // median
	Peak       float64 `json:"peak_bytes"`       // median of the heap at a cycle's end
	MaxPeak    float64 `json:"max_peak_bytes"`

	Profile float64 `json:"collector_profile_cores"` // by the CPU profile
	Sampled int64   `json:"profile_samples"`
	Runtime float64 `json:"collector_metric_cores"` // by /cpu/classes/gc/total, which moves with each cycle
	CPU     float64 `json:"cpu_cores"`              // of the process
	Alloc   float64 `json:"alloc_bytes_per_s"`
	NonHeap float64 `json:"nonheap_bytes"` // mapped and not released, less the heap, free or in use
	RSS     float64 `json:"rss_bytes"`
	Faults  float64 `json:"minor_faults_per_s"`

	Requests int     `json:"requests"`
	Failed   int     `json:"failed"`
	Offered  float64 `json:"offered"`
	Achieved float64 `json:"achieved"`
	P50      float64 `json:"p50_ms"`
	P99      float64 `json:"p99_ms"`
	P999     float64 `json:"p999_ms"`
	// Stretches are the p99s of the stretches of the run: a second each, or three cycles
	// if those take longer.
	Stretches []float64 `json:"p99_ms_of_stretches"`
	Others    float64   `json:"others"` // share of the host's CPUs that other programs used
	Limited   bool      `json:"generator_limited"`
	Again     int       `json:"again"` // how often it was disturbed before
}

// Plan is the plan of a grid: settings that depend on the live heap are
// computed once.
type Plan struct {
	Live       float64   `json:"live_bytes"`
	NonHeap    float64   `json:"nonheap_bytes"`
	Alloc      float64   `json:"alloc_bytes_per_request"`
	Settings   []Setting `json:"settings"`
	Seed       uint64    `json:"seed"`
	Go         string    `json:"go"`
	Start      time.Time `json:"start"`
	Processors int       `json:"processors"`
	Host       string    `json:"host"`
}

const planFile = "plan.json"

// rowFile returns the path of a run's row: an existing one is not measured again.
func rowFile(dir string, rate float64, repetition, setting int) string {
	return filepath.Join(dir, fmt.Sprintf("rate%g-rep%d-set%02d.json", rate, repetition, setting))
}

func writeJSON(path string, v any) error {
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	fresh := path + ".new"
	if err := os.WriteFile(fresh, append(b, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(fresh, path)
}

func readJSON(path string, v any) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// readRows reads all runs of a folder, in order of their names.
func readRows(dir string) (rows []Row, err error) {
	names, err := filepath.Glob(filepath.Join(dir, "rate*-rep*-set*.json"))
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	for _, name := range names {
		var r Row
		if err := readJSON(name, &r); err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	return rows, nil
}
