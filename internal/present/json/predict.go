package json

import (
	"io"

	"github.com/unstall/unstall/internal/analyze/model"
)

// Predict renders a prediction as it is (schema unstall.prediction/v1).
func Predict(w io.Writer, a *model.Answer) error { return Encode(w, a) }
