package main

import "errors"

// labCommand says where the incidents went that were run by unstall lab.
type labCommand struct {
	Words []string `arg:"" optional:""`
}

func (*labCommand) Run(*session) error {
	return errors.New("lab: unstall-lab runs the incidents; a checkout builds it: make lab, then bin/unstall-lab list")
}
