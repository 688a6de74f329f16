package report

import (
	"fmt"
	"io"

	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/inspect"
	"github.com/unstall/unstall/report/json"
	"github.com/unstall/unstall/report/text"
)

// Inspect renders what the artifacts of a bundle hold, as text or as JSON.
func Inspect(w io.Writer, b *evidence.Bundle, form string) error {
	switch form {
	case "text":
		return text.For(w).Inspect(w, inspect.Of(b))
	case "json":
		return json.Encode(w, inspect.Of(b))
	}
	return fmt.Errorf("--format %s: what artifacts hold is shown as text or json", form)
}
