package json

import (
	"io"

	"github.com/unstall/unstall/internal/operate/compare"
)

// Compare renders a comparison as it is (schema unstall.compare/v1).
func Compare(w io.Writer, c *compare.Comparison) error { return Encode(w, c) }
