package check

// HeldInterpreter is what slow requests wait for Python's interpreter lock where one function computes while it is held. The check of locks finds it, and
// that of own work tells it.
type HeldInterpreter struct {
	By    *Effort // nil: none
	Per   []int64 // ns that each slow request waits beyond the usual
	Share float64 // of slow time that is waiting for it
}

// HeldInterpreterOf returns what is known of it.
func HeldInterpreterOf(c *Case) *HeldInterpreter {
	return Once(c, func(*Case) *HeldInterpreter { return &HeldInterpreter{} })
}
