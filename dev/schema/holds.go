package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

var compiled sync.Map // by name and strictness

// Compile returns a compiled schema.
func Compile(root, name string, strict bool) (*jsonschema.Schema, error) {
	key := fmt.Sprint(name, strict)
	if s, ok := compiled.Load(key); ok {
		return s.(*jsonschema.Schema), nil
	}
	for _, d := range Documents {
		if d.Name != name {
			continue
		}
		text, err := d.Write(root, strict)
		if err != nil {
			return nil, err
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			return nil, err
		}
		c := jsonschema.NewCompiler()
		c.AssertFormat()
		if err := c.AddResource(d.File(), v); err != nil {
			return nil, err
		}
		s, err := c.Compile(d.File())
		if err == nil {
			compiled.Store(key, s)
		}
		return s, err
	}
	return nil, fmt.Errorf("there is no schema %q", name)
}

// Holds says whether a text matches the schema that it names. A strict schema allows no other keys.
func Holds(root string, text []byte, strict bool) error {
	var head struct {
		Schema string `json:"schema"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return err
	}
	s, err := Compile(root, head.Schema, strict)
	if err != nil {
		return err
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return s.Validate(v)
}
