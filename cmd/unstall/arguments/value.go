package arguments

import (
	"encoding"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// Taker is a value that takes several words of a line: it calls next until it has enough, or there
// are no more before the next flag.
type Taker interface {
	Take(next func() (word string, ok bool)) error
}

func taker(t reflect.Type) bool { return reflect.PointerTo(t).Implements(reflect.TypeFor[Taker]()) }

func texted(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// readable says whether values of a type can be read.
func readable(t reflect.Type) bool {
	switch {
	case taker(t), texted(t):
		return true
	case t.Kind() == reflect.Pointer, t.Kind() == reflect.Slice:
		return readable(t.Elem())
	}
	switch t.Kind() {
	case reflect.String, reflect.Bool, reflect.Int, reflect.Int64, reflect.Uint, reflect.Uint64, reflect.Float64:
		return true
	}
	return false
}

func (v *Value) list() bool {
	t := v.target.Type()
	return t.Kind() == reflect.Slice && !taker(t) && !texted(t)
}

func (v *Value) bool() bool {
	t := v.target.Type()
	return t.Kind() == reflect.Bool || t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Bool
}

// read sets the value to what a word says, or adds that to a list.
func (v *Value) read(word string) error {
	words := []string{word}
	if v.list() && v.Separate {
		words = strings.Split(word, ",")
	}
	for _, w := range words {
		into := v.target
		if v.list() {
			into = reflect.New(v.target.Type().Elem()).Elem()
		}
		if err := read(into, w); err != nil {
			return fmt.Errorf("%s: %w", v, err)
		}
		if v.list() {
			v.target.Set(reflect.Append(v.target, into))
		}
	}
	v.set = true
	return nil
}

func read(into reflect.Value, word string) error {
	if into.Kind() == reflect.Pointer {
		into.Set(reflect.New(into.Type().Elem()))
		return read(into.Elem(), word)
	}
	switch x := into.Addr().Interface().(type) {
	case encoding.TextUnmarshaler:
		return x.UnmarshalText([]byte(word))
	case *time.Duration:
		return readDuration(x, word)
	}
	var err error
	switch into.Kind() {
	case reflect.String:
		into.SetString(word)
	case reflect.Bool:
		var b bool
		if b, err = truth(word); err == nil {
			into.SetBool(b)
		}
	case reflect.Int, reflect.Int64:
		var n int64
		if n, err = strconv.ParseInt(word, 10, into.Type().Bits()); err != nil {
			return fmt.Errorf("%q is not a whole number", word)
		}
		into.SetInt(n)
	case reflect.Uint, reflect.Uint64:
		var n uint64
		if n, err = strconv.ParseUint(word, 10, into.Type().Bits()); err != nil {
			return fmt.Errorf("%q is not a whole number from 0 on", word)
		}
		into.SetUint(n)
	case reflect.Float64:
		var f float64
		if f, err = strconv.ParseFloat(word, 64); err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("%q is not a number", word)
		}
		into.SetFloat(f)
	}
	return err
}

// readDuration reads a time, and says what one looks like.
func readDuration(d *time.Duration, word string) (err error) {
	*d, err = time.ParseDuration(word)
	if _, number := strconv.ParseFloat(word, 64); err != nil && number == nil {
		return fmt.Errorf("%q has no unit: give %sms or %ss", word, word, word)
	} else if err != nil {
		return fmt.Errorf("%q is not a time: give 300ms, 2s or 5m", word)
	}
	return nil
}

// truth is what people write for yes and no.
func truth(word string) (bool, error) {
	switch strings.ToLower(word) {
	case "true", "1", "yes":
		return true, nil
	case "false", "0", "no":
		return false, nil
	}
	return false, fmt.Errorf("%q is neither true nor false", word)
}

// check refuses what is none of what the value may be.
func (v *Value) check() error {
	if len(v.Enum) == 0 || !v.set {
		return nil
	}
	got := v.String()
	of := reflect.Indirect(v.target)
	for _, may := range v.Enum {
		if fmt.Sprint(of.Interface()) == may {
			return nil
		}
	}
	var all []string
	for _, may := range v.Enum {
		if may != "" {
			all = append(all, strconv.Quote(may))
		}
	}
	return fmt.Errorf("%s must be one of %s but got %q", got, strings.Join(all, ","), fmt.Sprint(of.Interface()))
}

// Text is the value as text.
func (v *Value) Text() string {
	if of := reflect.Indirect(v.target); of.IsValid() {
		return fmt.Sprint(of.Interface())
	}
	return ""
}

// String names the flag or argument.
func (v *Value) String() string {
	if v.flag {
		return "--" + v.Name
	}
	name := "<" + v.Name + ">"
	if v.list() {
		name += " ..."
	}
	if !v.Required {
		name = "[" + name + "]"
	}
	return name
}
