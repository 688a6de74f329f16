package present

import (
	"io"

	"github.com/unstall/unstall/internal/diagnose"
)

// Why shows how the verdicts about a cause came about, as text.
func Why(w io.Writer, d *diagnose.Diagnosis, cause string) error {
	return Look{Color: "auto"}.textOptions(w).Why(w, d, cause)
}
