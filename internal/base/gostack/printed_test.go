package gostack

import "testing"

func TestPrinted(t *testing.T) {
	for symbol, want := range map[string]string{
		"slices.pdqsortCmpFunc[go.shape.struct { main.day int; main.height float64 }]": "slices.pdqsortCmpFunc[...]",
		"main.(*cache[go.shape.[]uint8,go.shape.int]).Get":                             "main.(*cache[...]).Get",
		"main.(*shop).price":    "main.(*shop).price",
		"main.parse[go.shape.i": "main.parse[go.shape.i", // cut
		"uWS::HttpResponse[]":   "uWS::HttpResponse[]",
	} {
		if got := Printed(symbol); got != want {
			t.Errorf("%s: %s, want %s", symbol, got, want)
		}
	}
}
