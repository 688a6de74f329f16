package html

import (
	"html/template"

	"github.com/unstall/unstall/diagnose"
)

type frontierView struct {
	SVG     template.HTML
	Caption string
	Aria    string
}

func frontier(*diagnose.Verdict) *frontierView { return nil }
