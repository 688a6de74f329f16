package goheap

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Setting is what a Go process is told about its heap.
type Setting struct {
	GOGC    float64 // percent; below zero: off
	Limit   float64 // GOMEMLIMIT, bytes; 0: none
	Ballast float64 // bytes that are live, never touched and never scanned
}

// Off is GOGC=off.
const Off = -1

// Default is what a process gets that is told nothing.
var Default = Setting{GOGC: 100}

func (s Setting) String() string {
	var words []string
	switch {
	case s.GOGC < 0:
		words = append(words, "GOGC=off")
	case s.GOGC != 100 || s.Limit == 0 && s.Ballast == 0:
		words = append(words, "GOGC="+strconv.FormatFloat(math.Round(s.GOGC), 'f', -1, 64))
	}
	if s.Limit > 0 {
		words = append(words, "GOMEMLIMIT="+FormatSize(s.Limit))
	}
	if s.Ballast > 0 {
		words = append(words, "ballast="+FormatSize(s.Ballast))
	}
	return strings.Join(words, " ")
}

type settingJSON struct {
	Text    string   `json:"text"`
	GOGC    *float64 `json:"gogc_percent"`     // null: off
	Limit   *float64 `json:"gomemlimit_bytes"` // null: none
	Ballast float64  `json:"ballast_bytes"`
}

// MarshalJSON writes null for GOGC=off and for no limit.
func (s Setting) MarshalJSON() ([]byte, error) {
	j := settingJSON{Text: s.String(), Ballast: s.Ballast}
	if s.GOGC >= 0 {
		j.GOGC = &s.GOGC
	}
	if s.Limit > 0 {
		j.Limit = &s.Limit
	}
	return json.Marshal(j)
}

// FormatSize writes bytes as GOMEMLIMIT takes them, in whole units.
func FormatSize(bytes float64) string {
	n := int64(math.Round(bytes))
	for _, u := range sizeUnits {
		if u.size > 1 && n >= u.size && n%u.size == 0 {
			return strconv.FormatInt(n/u.size, 10) + u.name
		}
	}
	return strconv.FormatInt(n, 10) + "B"
}

var sizeUnits = []struct {
	name string
	size int64
}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}

// What cannot be read as a setting.
var (
	errSize = errors.New("give a whole number with B, KiB, MiB, GiB or TiB")
	errGOGC = errors.New("give a whole number of percent, or off")
)

// ParseSize reads a size by the grammar of GOMEMLIMIT
// (https://pkg.go.dev/runtime#hdr-Environment_Variables): digits, then one of
// B, KiB, MiB, GiB, TiB or nothing. Unlike there, zero is none.
func ParseSize(s string) (bytes float64, err error) {
	digits, size := s, int64(1)
	for _, u := range sizeUnits { // the longer suffixes come first
		if d, ok := strings.CutSuffix(s, u.name); ok {
			digits, size = d, u.size
			break
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	switch {
	case err != nil || strings.HasPrefix(digits, "+"):
		return 0, fmt.Errorf("%q: %w", s, errSize)
	case n <= 0:
		return 0, fmt.Errorf("%q: it must be above zero", s)
	case n > math.MaxInt64/size:
		return 0, fmt.Errorf("%q: that is more than a process can address", s)
	}
	return float64(n) * float64(size), nil
}

// ParseLimit reads a value of GOMEMLIMIT; 0 is none.
func ParseLimit(s string) (float64, error) {
	if s == "" || s == "off" {
		return 0, nil
	}
	v, err := ParseSize(s)
	if err != nil {
		return 0, fmt.Errorf("%w, or off", err)
	}
	return v, nil
}

// ParseGOGC reads a value of GOGC; below zero is off.
func ParseGOGC(s string) (float64, error) {
	if s == "off" {
		return Off, nil
	}
	if s == "" {
		return Default.GOGC, nil
	}
	n, err := strconv.ParseInt(s, 10, 32)
	switch {
	case err != nil || strings.HasPrefix(s, "+"):
		return 0, fmt.Errorf("%q: %w", s, errGOGC)
	case n < 0:
		return Off, nil
	}
	return float64(n), nil
}
