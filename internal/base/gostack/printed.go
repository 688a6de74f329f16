package gostack

import "strings"

// Printed returns a function's name as Go prints it in stacks and profiles: symbols of generic functions hold the shapes of their types, and three
// dots stand for those. (runtime.funcNameForPrint)
func Printed(symbol string) string {
	from := strings.Index(symbol, "[go.shape.")
	until := strings.LastIndexByte(symbol, ']')
	if from < 0 || until < from {
		return symbol
	}
	return symbol[:from] + "[...]" + symbol[until+1:]
}
