package present

import (
	"io"

	"github.com/unstall/unstall/internal/analyze/model"
)

// Predictor renders a prediction.
type Predictor func(w io.Writer, a *model.Answer) error
