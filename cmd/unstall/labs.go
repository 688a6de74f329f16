package main

import "errors"

// labCommand says which program now runs the incidents of the former unstall lab.
type labCommand struct {
	Words []string `arg:"" optional:""`
}

func (*labCommand) Run(*session) error {
	return errors.New("lab: unstall-lab runs the incidents; a checkout builds it: make lab, then bin/unstall-lab list")
}
