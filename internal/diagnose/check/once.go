package check

import "reflect"

// Once reads something of a case only on first use: many causes of a runtime need the same collector, and reading it is most of their work.
// It keeps what was read by its type.
func Once[T any](c *Case, read func(*Case) T) T {
	key := reflect.TypeFor[T]()
	if v, ok := c.read[key]; ok {
		return v.(T)
	}
	v := read(c)
	if c.read == nil {
		c.read = make(map[reflect.Type]any)
	}
	c.read[key] = v
	return v
}
