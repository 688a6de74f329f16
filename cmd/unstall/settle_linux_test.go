package main

import (
	"os"
	"strings"
	"testing"
)

// TestUnmap checks that a settled watch has less of the program resident, and that it continues.
func TestUnmap(t *testing.T) {
	resident := func() int {
		text, err := os.ReadFile("/proc/self/status")
		if err != nil {
			t.Fatal(err)
		}
		_, rest, ok := strings.Cut(string(text), "RssFile:")
		if !ok {
			t.Skip("this kernel does not tell pages of files apart")
		}
		n := 0
		for _, c := range strings.TrimSpace(rest) {
			if c < '0' || c > '9' {
				break
			}
			n = 10*n + int(c-'0')
		}
		return n
	}
	before := resident()
	dropFilePages()
	if after := resident(); after > before*3/4 {
		t.Errorf("of %d kB of files %d are still resident", before, after)
	}
}
