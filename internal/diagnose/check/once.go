package check

import "reflect"

// Once reads something of a case only the first time it is asked for: many causes of a runtime
// need the same collector, and reading it is most of their work. What was read is kept by its
// type.
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
