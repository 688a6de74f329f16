package json

import (
	"io"

	"github.com/unstall/unstall/predict"
)

// Predict renders a prediction as it is (schema unstall.prediction/v1).
func Predict(w io.Writer, p *predict.Prediction) error { return Encode(w, p) }
