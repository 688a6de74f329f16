package lab

import (
	"context"
	"embed"
	"path"
	"slices"

	"github.com/unstall/unstall/lab/build"
)

// shared is what the labs' programs have in common. The sources are in the tool
// itself, so that a released one can run labs anywhere.
//
//go:embed service/*.go resp/*.go dependency/*.go
var shared embed.FS

// module is where the sources are built: their import paths are those of the
// repository, and they need nothing else.
const module = "module github.com/unstall/unstall\n\ngo 1.21\n"

// build builds the programs of a lab and returns where each binary is.
func (l *Lab) build(ctx context.Context, say func(string)) (map[string]string, error) {
	files := build.Sources{"go.mod": []byte(module)}
	if err := files.Add(shared, "lab", ".go"); err != nil {
		return nil, err
	}
	if err := files.Add(l.Sources, path.Join("lab", l.Name), ".go"); err != nil {
		return nil, err
	}
	return build.Go(ctx, l.Name, files, l.programs(), say)
}

// dependency is the program all labs share.
const dependency = "lab/dependency"

// programs are the main packages that variants need, below the module.
func (l *Lab) programs() (all []string) {
	for _, v := range l.Variants {
		all = append(all, l.program(v))
		if v.Dependency != nil {
			all = append(all, dependency)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (l *Lab) program(v Variant) string { return path.Join("lab", l.Name, v.Program) }
