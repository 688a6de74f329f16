package check

import "reflect"

// Once is what causes read of a case, read once: many causes of a runtime ask for the same
// collector, and to read it is most of their work. What is read is known by its type.
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
