package report

import (
	"fmt"
	"io"

	"github.com/unstall/unstall/predict"
	"github.com/unstall/unstall/report/json"
	"github.com/unstall/unstall/report/markdown"
	"github.com/unstall/unstall/report/text"
)

// Predictor renders a prediction.
type Predictor func(w io.Writer, p *predict.Prediction) error

// Prediction is how a form shows one. Color is as for [Choose].
func Prediction(f Form, color string) (Predictor, error) {
	switch f.Name {
	case "text":
		return func(w io.Writer, p *predict.Prediction) error {
			o := text.For(w)
			if color == "always" || color == "never" {
				o = colored(w, color)
			}
			return o.Predict(w, p)
		}, nil
	case "json":
		return json.Predict, nil
	case "markdown":
		return markdown.Predict, nil
	}
	return nil, fmt.Errorf("--format %s: a prediction is shown as text, json or markdown", f.Name)
}
