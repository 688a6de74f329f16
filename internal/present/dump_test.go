package present

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/unstall/unstall/internal/diagnose/check/all"
)

func TestDumpDecisions(t *testing.T) {
	f, _ := os.Create("/tmp/why-dump.txt")
	defer f.Close()
	for _, k := range all.Causes {
		dirs, _ := filepath.Glob(filepath.Join(recorded, k.ID, "*"))
		for _, dir := range dirs {
			if i, err := os.Stat(dir); err != nil || !i.IsDir() {
				continue
			}
			d := diagnosed(t, filepath.Join(k.ID, filepath.Base(dir)))
			for i := range d.Verdicts {
				v := &d.Verdicts[i]
				fmt.Fprintf(f, "%s/%s|%s|%s|%s|%s", k.ID, filepath.Base(dir), v.Cause, v.Verdict, v.Decision.Answer, v.Summary)
				for _, s := range v.Decision.Steps {
					for _, c := range s.Compared {
						fig := "?"
						if c.Figure != nil {
							fig = fmt.Sprint(*c.Figure)
						}
						fmt.Fprintf(f, "|%v %v: %s: %s %v %v", s.Question, s.Decides, c.Name, fig, c.Reached, c.Threshold)
					}
				}
				fmt.Fprintln(f)
			}
		}
	}
}
