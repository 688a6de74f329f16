package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Stack is stack.json of lab/stacks: a service made of common frameworks, pools and
// databases, with variants. Its own keys are those of known.json for the healthy
// service. A variant's keys replace the stack's; of the environment they replace only the
// variables that they name.
type Stack struct {
	Known
	Variants map[string]json.RawMessage `json:"variants"`
}

// off is the value of FAULT that tells a service, and the programs beside it, to have no fault.
const off = "off"

// readStack reads a service for each variant of a stack, none if the folder has no
// stack.json.
func readStack(dir string) (all []service, err error) {
	text, err := os.ReadFile(filepath.Join(dir, "stack.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var st Stack
	if err := decodeStrict(text, &st); err != nil {
		return nil, fmt.Errorf("%s: stack.json: %w", filepath.Base(dir), err)
	}
	if len(st.Variants) == 0 {
		return nil, fmt.Errorf("%s: stack.json: variants: there is none", filepath.Base(dir))
	}
	for name, keys := range st.Variants {
		s := service{Name: filepath.Base(dir) + "/" + name, Dir: dir}
		if err := s.applyVariant(text, name, keys); err != nil {
			return nil, fmt.Errorf("%s: stack.json: %w", s.Name, err)
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b service) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// decodeStrict decodes JSON and refuses keys that v does not have.
func decodeStrict(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(v)
}

// applyVariant makes a service a variant of its stack, and keeps the variant without its fault:
// with the stack's own flags and limits, and FAULT=off.
func (s *service) applyVariant(stack []byte, name string, keys json.RawMessage) error {
	first, err := s.mergeKnown(stack, keys, name)
	if err != nil {
		return err
	}
	if first.Healthy {
		first.setFault(off)
	}
	if err := first.checkKeys(); err != nil {
		return err
	}
	own, err := s.mergeKnown(stack, nil, off)
	if err != nil {
		return err
	}
	twin, err := s.mergeKnown(stack, keys, off)
	if err != nil {
		return err
	}
	twin.Flags, twin.Quota, twin.Memory, twin.IOPS = own.Flags, own.Quota, own.Memory, own.IOPS
	s.Known, s.twin = first, &twin
	return nil
}

// mergeKnown returns a stack with a variant's keys in place of its own.
func (s *service) mergeKnown(stack []byte, keys json.RawMessage, fault string) (k Known, err error) {
	merged := map[string]json.RawMessage{}
	if err := json.Unmarshal(stack, &merged); err != nil {
		return k, err
	}
	env := merged["env"]
	delete(merged, "variants")
	if keys != nil {
		if err := json.Unmarshal(keys, &merged); err != nil {
			return k, err
		}
	}
	text, err := json.Marshal(merged)
	if err != nil {
		return k, err
	}
	if env != nil { // the variant's variables are added to those of the stack
		if err := json.Unmarshal(env, &k.Env); err != nil {
			return k, err
		}
	}
	if err := decodeStrict(text, &k); err != nil {
		return k, err
	}
	k.setFault(fault)
	k.setDefaults()
	jars, err := readJars(filepath.Join(s.Dir, "jars.txt"))
	if err != nil {
		return k, err
	}
	processors, err := readJars(filepath.Join(s.Dir, "processors.txt"))
	k.Jars = append(k.Jars, jars...)
	k.Processors = append(k.Processors, processors...)
	return k, err
}

// setFault tells all programs which fault to have.
func (k *Known) setFault(name string) {
	set := func(p *program) {
		if p.Env == nil {
			p.Env = make(map[string]string)
		}
		p.Env["FAULT"] = name
	}
	set(&k.program)
	for i := range k.Beside {
		set(&k.Beside[i].program)
	}
}

var jarLine = regexp.MustCompile(`^([0-9a-f]{64})  ([A-Za-z0-9._/-]+\.jar)$`)

// readJars reads the jars of a stack in the format of sha256sum, with their paths in Maven
// Central; none if the file does not exist.
func readJars(name string) (jars []jar, err error) {
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for line := range strings.Lines(string(text)) {
		m := jarLine.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if m == nil {
			return nil, fmt.Errorf("%s: %q is no line of sha256sum", filepath.Base(name), line)
		}
		jars = append(jars, jar{URL: central + m[2], SHA256: m[1]})
	}
	return jars, err
}
