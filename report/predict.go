package report

import (
	"io"

	"github.com/unstall/unstall/predict"
	"github.com/unstall/unstall/report/text"
)

// Predictor renders a prediction.
type Predictor func(w io.Writer, p *predict.Prediction) error

func predictText(w io.Writer, p *predict.Prediction) error { return text.For(w).Predict(w, p) }
