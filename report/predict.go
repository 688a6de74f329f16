package report

import (
	"io"

	"github.com/unstall/unstall/model"
	"github.com/unstall/unstall/report/text"
)

// Predictor renders a prediction.
type Predictor func(w io.Writer, a *model.Answer) error

func predictText(w io.Writer, a *model.Answer) error { return text.For(w).Predict(w, a) }
