package target

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

// A HotSpot JVM publishes its counters in <tmp>/hsperfdata_USER/PID, a file that
// it maps into memory (perfMemory.hpp: PerfDataPrologue, PerfDataEntry). Only
// its layout 2.0 is read, that of JDK 1.5 to 25.

const (
	hsMagic = 0xcafec0c0
	hsLimit = 1 << 20 // -XX:PerfDataMemorySize is 32 KiB by default
)

// jvm is what is used of it.
type jvm struct {
	version string // "17.0.15"
	main    string // main class without its package, or jar file; "" unknown
}

func parseHsperfdata(r io.Reader) (jvm, error) {
	data, err := io.ReadAll(io.LimitReader(r, hsLimit))
	if err != nil {
		return jvm{}, err
	}
	if len(data) < 32 || binary.BigEndian.Uint32(data) != hsMagic {
		return jvm{}, errors.New("hsperfdata: it does not begin with cafec0c0")
	}
	var order binary.ByteOrder = binary.BigEndian
	if data[4] == 1 {
		order = binary.LittleEndian
	}
	if data[5] != 2 {
		return jvm{}, fmt.Errorf("hsperfdata: layout %d.%d is not known", data[5], data[6])
	}
	var j jvm
	at := uint64(order.Uint32(data[24:]))
	for range order.Uint32(data[28:]) {
		if at+20 > uint64(len(data)) {
			return j, errors.New("hsperfdata: it is cut off")
		}
		entry := data[at:]
		length := uint64(order.Uint32(entry))
		if length < 20 || length > uint64(len(entry)) {
			return j, errors.New("hsperfdata: an entry does not fit")
		}
		entry = entry[:length]
		name := text(entry, order.Uint32(entry[4:]))
		value := text(entry, order.Uint32(entry[16:]))
		switch name {
		case "java.property.java.version":
			j.version = value
		case "sun.rt.javaCommand":
			j.main = mainOf(value)
		}
		at += length
	}
	return j, nil
}

// text is the string at an offset of an entry, up to its zero.
func text(entry []byte, offset uint32) string {
	if uint64(offset) >= uint64(len(entry)) {
		return ""
	}
	s, _, _ := bytes.Cut(entry[offset:], []byte{0})
	return string(s)
}

// mainOf takes the program out of a command, "com.example.Main --port 80" or
// "/srv/app.jar …", and leaves its arguments out: they may be secrets.
func mainOf(command string) string {
	first, _, _ := strings.Cut(command, " ")
	first = path.Base(first) // of a module and a class, too
	if strings.HasSuffix(first, ".jar") {
		return first
	}
	if first == "." || first == "/" {
		return ""
	}
	return first[strings.LastIndexByte(first, '.')+1:]
}
