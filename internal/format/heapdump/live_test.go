package heapdump

import (
	"context"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// TestLeaks holds dumps that real JVMs write of the leaks reported most against what holds the memory in them: a static map, a ThreadLocal of pooled
// threads, applications whose class loaders are not freed, and listeners that are not removed.
func TestLeaks(t *testing.T) {
	compilers, _ := filepath.Glob("/usr/lib/jvm/*/bin/javac")
	if path, err := exec.LookPath("javac"); err == nil {
		compilers = append(compilers, path)
	}
	tried := make(map[string]bool)
	for _, javac := range compilers {
		if real, err := filepath.EvalSymlinks(javac); err == nil {
			javac = real
		}
		if tried[javac] {
			continue
		}
		tried[javac] = true
		t.Run(filepath.Base(filepath.Dir(filepath.Dir(javac))), func(t *testing.T) { holdLeaks(t, javac) })
	}
	if len(tried) == 0 {
		t.Skip("no JDK is installed")
	}
}

func holdLeaks(t *testing.T, javac string) {
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), javac, "-d", dir, "testdata/Leaks.java").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, c := range []struct {
		leak string
		// class has so many objects, which keep at least so many bytes alive and at most a tenth more.
		class   string
		objects int
		payload float64
		// holder keeps them, through these; warned is said of the dump.
		holder, through, warned string
	}{
		{"map", "java.util.HashMap", 0, 8000 * 1016, "java.util.HashMap", "class Leaks$Tariffs", "one object keeps"},
		{"threadlocal", "Leaks$Worker", 4, 4 * 2000 * 1016, "Leaks$Worker", "", ""},
		{"loaders", "Leaks$Plugin", 40, 40 * 100_016, "", "", "40 class loaders hold a class Leaks$Plugin each"},
		{"listeners", "Leaks$Bus", 1, 4000 * 2016, "Leaks$Bus", "", "one object keeps"},
	} {
		t.Run(c.leak, func(t *testing.T) {
			file := filepath.Join(dir, c.leak+".hprof")
			run := exec.CommandContext(t.Context(), filepath.Join(filepath.Dir(javac), "java"), "-Xmx64m", "-XX:+UseSerialGC", "-cp", dir, "Leaks", c.leak, file)
			if out, err := run.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			b := evidence.NewBundle()
			if err := format.Read(context.Background(), []format.Format{Format}, format.File(file), b); err != nil {
				t.Fatal(err)
			}
			row := rowOf(b, "kept alive by class", c.class)
			if row == nil {
				t.Fatalf("no class %s: %v", c.class, b.Tables)
			}
			const mib = 1 << 20
			if kept := numberOf(t, row[3]) * mib; kept < .99*c.payload || kept > 1.1*c.payload+mib {
				t.Errorf("%v keep %.0f bytes, want %.0f", row, kept, c.payload)
			}
			if n := int(numberOf(t, row[1])); c.objects > 0 && n != c.objects {
				t.Errorf("%v: %d objects, want %d", row, n, c.objects)
			}
			if c.holder != "" {
				if row := rowOf(b, "objects that keep most alive", c.holder); row == nil || !strings.HasPrefix(row[3], c.through) {
					t.Errorf("%s is not kept by %q: %v", c.holder, c.through, b.Tables)
				}
			}
			if c.warned != "" {
				warned := false
				for _, w := range b.Warnings {
					warned = warned || strings.Contains(w.Text, c.warned)
				}
				if !warned {
					t.Errorf("no warning says %q: %v", c.warned, b.Warnings)
				}
			}
		})
	}
}

func rowOf(b *evidence.Bundle, title, name string) []string {
	for _, table := range b.Tables {
		for _, row := range table.Rows {
			if table.Title == title && row[0] == name {
				return row
			}
		}
	}
	return nil
}

func numberOf(t *testing.T, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
