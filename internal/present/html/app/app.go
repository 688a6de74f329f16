// Package app is the interactive part of the HTML report: it encodes a
// timeline.Timeline for a browser ([Payload]) and holds the script and the style
// that draw it there ([Script], [Style]). The page fetches nothing: uPlot
// (https://github.com/leeoniya/uPlot, in the folder uplot) draws the curves, and plain
// JavaScript without a build step draws the rest on canvases of its own.
//
// Its opinion: details too small for the width are drawn all the same. A
// pause of a microsecond is a pixel wide, a pixel's colour says how much of it
// was covered, a curve shows the highest and the lowest of each pixel, and every
// picture has its figures in words or in a table beside it.
//
// # Payload
//
// One JSON object, safe inside a script element. Times are ns since "from", which
// is ns since the epoch as a string of digits (more than a double holds). A column
// of numbers is an object with one key, the type of its values, and as value their
// bytes, little-endian, in base64 (RFC 4648, padded):
//
//	{"u8": "AAEC"}    also u16, u32, i32, f32, f64
//	{"var": "AawC"}   unsigned integers of 7 bits a byte, the lowest first (LEB128): times that are mostly short
//
// Integers take the smallest type that holds them all; beyond 32 bits var, negative ones
// f64, exact up to 2⁵³. Figures of curves are f32, NaN where nothing is known. A column that is
// left out is all zeros (or, for "number", all ones). Only the beginnings of points
// are rounded: they are u32 in ticks of "tick" ns, the smallest tick with which the
// whole span fits in 32 bits. Strings that repeat are indices in "strings".
//
//	{
//	  "version": 1, "subject", "from": "1763695082000000000", "span": ns, "tick": ns,
//	  "anchored": bool, "lanes": "goroutine" or "thread", "threshold": ns, "omitted": [string],
//	  "strings": [string],
//	  "titles": {mechanism: words},
//	  "requests": [{"source", "count", "cell": ns, "routes": [string],
//	                "at": ticks, "latency": ns, "number", "route", "flags", "detail"}],
//	  "bands":    [{"id", "title", "source", "at": ns, "dur": ns, "text": [string], "number", "longest", "busy": ns,
//	                "since", "until": ns, when it was watched, left out: all the time}],
//	  "charts":   [{"id", "title", "unit", "stacked", "route": left out where it is of all,
//	                "curves": [{"id", "title", "source", "t": ns, "v", "max", "readings": true if nothing is known between points}]}],
//	  "slow", "typical": {"at": ns, "latency": ns, "lane",
//	                "source", "origin", "route", "outcome": index in strings,
//	                "slow", "apart": 1 if it is so,
//	                "first": index of the request's first state; one more than there are requests,
//	                "states": {"at": ns since the request's beginning, left out where each begins as the one before ends,
//	                           "dur": ns, "number", "kind", "mechanism", "what", "where", "holder": index in strings,
//	                           "part": index of a state, ascending, "partMechanism", "partDur": ns}},
//	  "processors": [{"source", "at": ns, "span": ns, "apart", "works": [string],
//	                "lanes": [{"name", "gap": ns since the end of the span before, or "at": ns since the trace's, "dur": ns, "work", "request", "text": index in strings,
//	                           "share": index of a span, ascending, "shareWork", "sharePart"}]}],
//	  "flames":   [{"id", "title", "unit", "total", "cut", "parent", "name", "kind": index in strings, "value"}]
//	}
package app

import (
	"embed"
	"strings"
)

//go:embed script/*.js style/*.css uplot/uPlot.iife.min.js uplot/uPlot.min.css
var files embed.FS

// scripts are in order: each uses only those before it.
var scripts = []string{
	"column", "search", "figure", "scale", "view", "density", "cover", "curve", "lane", "tree", "link", // pure: no document
	"page", "paint", "drawing", "save", "gesture", "tooltip",
	"timeline", "requests", "bands", "charts", "request", "processors", "grow", "flames", "routes", "start",
}

// Script returns the JavaScript that draws payloads. It starts when the document has been read.
func Script() string {
	var b strings.Builder
	b.WriteString(readFile("uplot/uPlot.iife.min.js"))
	b.WriteString("\n(() => {\n\"use strict\";\n")
	for _, name := range scripts {
		b.WriteString(readFile("script/" + name + ".js"))
	}
	b.WriteString("})();\n")
	return b.String()
}

// Style returns the CSS of what the script makes. Its colours are the page's custom properties.
func Style() string { return readFile("uplot/uPlot.min.css") + "\n" + readFile("style/app.css") }

// readFile returns an embedded file.
func readFile(name string) string {
	b, err := files.ReadFile(name)
	if err != nil {
		panic(err) // embedded: cannot be absent
	}
	return string(b)
}
