package main

import "errors"

// labCommand tells users of the former unstall lab which program runs incidents now.
type labCommand struct {
	Words []string `arg:"" optional:""`
}

func (*labCommand) Run(*session) error {
	return errors.New("lab: unstall-lab runs the incidents; a checkout builds it: make lab, then bin/unstall-lab list")
}
