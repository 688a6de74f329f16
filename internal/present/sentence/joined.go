package sentence

import (
	"math"
	"path"

	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose"
)

// Joined says, for each source that saw the same requests from further inside, how many of its requests were found.
func Joined(r *diagnose.Requests) (out []string) {
	for _, j := range r.Joined {
		text := units.Count(j.Found) + " of " + units.Count(j.Count) + " " + insideOf(j) + " found among " + units.Count(j.Among) + " " + outsideOf(j)
		if j.ByID > 0 {
			text += ", " + units.Count(j.ByID) + " by their id"
		}
		if j.Behind != nil {
			text += "; the clock of " + path.Base(j.In) + " is " + units.Ms(math.Abs(*j.Behind)) + " " + clockDirection(*j.Behind)
		}
		out = append(out, text)
	}
	return out
}

func clockDirection(behind float64) string {
	if behind < 0 {
		return "ahead"
	}
	return "behind"
}

func insideOf(j diagnose.Joined) string {
	switch j.From {
	case "trace":
		return "traced requests"
	case "spans":
		return "spans"
	}
	return "requests in " + path.Base(j.Source)
}

func outsideOf(j diagnose.Joined) string {
	switch j.InFrom {
	case "clients":
		return "of the clients"
	case "proxy":
		return "of the proxy"
	case "spans":
		return "spans"
	case "kernel":
		return "that the kernel saw"
	}
	return "of the log"
}
