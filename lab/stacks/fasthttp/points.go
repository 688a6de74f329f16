package main

import (
	"encoding/binary"
	"strconv"
	"sync"
)

const (
	pointCount = 450_000
	samples    = 400_000 // of a curve, before it is thinned
)

type point struct {
	Name   string            `json:"name"`
	Street *string           `json:"street"`
	Plugs  map[string]string `json:"plugs"`
}

// points has all charging points by their numbers, and draws curves of their power.
type points struct {
	all     map[int]*point
	scratch sync.Pool // of []byte, in which a curve is drawn
}

func fillPoints() *points {
	p := &points{all: make(map[int]*point, pointCount)}
	p.scratch.New = func() any { return make([]byte, samples*8) }
	for id := range pointCount {
		street := "street " + strconv.Itoa(id%3000)
		p.all[id] = &point{Name: "point " + strconv.Itoa(id), Street: &street, Plugs: map[string]string{"type2": strconv.Itoa(id % 22), "ccs": strconv.Itoa(id % 150)}}
	}
	return p
}

func (p *points) find(id int) *point { return p.all[id%pointCount] }

// curve draws the power of a point over a day into a buffer of 3.2 MB and thins it to what a
// picture shows. Buffers are used again; with the fault each curve has one of its own.
func (p *points) curve(id int) []uint64 {
	var buffer []byte
	if fault("buffer-each") {
		buffer = make([]byte, samples*8)
	} else {
		buffer = p.scratch.Get().([]byte)
		defer p.scratch.Put(buffer)
	}
	for n := 0; n < samples; n += 8 {
		binary.LittleEndian.PutUint64(buffer[n*8:], uint64((n*id)%22_000))
	}
	thin := make([]uint64, 0, 50)
	for n := 0; n < samples; n += samples / 50 {
		thin = append(thin, binary.LittleEndian.Uint64(buffer[n*8:]))
	}
	return thin
}
