package model

import (
	"encoding/json"
	"math"
	"testing"
)

// What is not known is null.
func TestEstimateJSON(t *testing.T) {
	if b, err := json.Marshal(Estimate{.6, .5, math.Inf(1)}); err != nil || string(b) != `{"value":0.6,"low":0.5,"high":null}` {
		t.Error(string(b), err)
	}
}
