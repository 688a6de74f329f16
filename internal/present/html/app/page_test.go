package app

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/diagnose/timeline"
)

var pageFile = flag.String("page", "", "write a page of synthetic data to this file, to be looked at")

// page is the least page the script draws in.
func page(tl *timeline.Timeline) ([]byte, error) {
	payload, err := Payload(tl)
	if err != nil {
		return nil, err
	}
	colours, err := os.ReadFile("../page/colours.css")
	if err != nil {
		return nil, err
	}
	light, _, _ := strings.Cut(string(colours), "/*dark*/")
	var b bytes.Buffer
	fmt.Fprintf(&b, "<!DOCTYPE html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\"><title>app</title><style>body{font:15px system-ui;margin:1rem;background:Canvas;color:CanvasText;color-scheme:light}\n%s%s</style>\n<h1>%s</h1>\n", light, Style(), tl.Subject)
	for _, part := range []string{"timeline", "request", "processors", "flames"} {
		fmt.Fprintf(&b, "<section><h2>%s</h2><div class=\"mount\" data-view=%q data-n=\"0\"></div></section>\n", part, part)
	}
	fmt.Fprintf(&b, "<script type=\"application/json\" id=\"data-0\">%s</script>\n<script>%s</script>\n", payload, Script())
	return b.Bytes(), nil
}

func TestPage(t *testing.T) {
	b, err := page(usual.timeline())
	if err != nil {
		t.Fatal(err)
	}
	if n := len(Script()) + len(Style()); n > 400_000 {
		t.Errorf("script and style take %d bytes", n)
	}
	for _, s := range []string{Script(), Style()} {
		if low := strings.ToLower(s); strings.Contains(low, "</script") || strings.Contains(low, "<!--") || strings.Contains(low, "http://") {
			t.Error("the script or the style cannot stand in a page")
		}
	}
	if *pageFile == "" {
		return
	}
	for name, s := range map[string]synthetic{"": usual, ".large": largest} {
		if name != "" {
			if b, err = page(s.timeline()); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(strings.TrimSuffix(*pageFile, ".html")+name+".html", b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
