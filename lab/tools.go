package lab

import (
	"context"
	"fmt"

	"github.com/unstall/unstall/lab/build"
)

// find maps the tools that variants may need to the functions that find or fetch them.
var find = map[string]func(ctx context.Context, fetch bool, say func(string)) (string, error){
	"nginx": build.FindNginx,
	"php":   build.FindPHP,
	"redis": build.FindRedis,
}

// findTools finds what the variants need.
func (s *Stand) findTools(ctx context.Context, say func(string)) (map[string]string, error) {
	tools := make(map[string]string)
	for _, v := range s.variants {
		for _, name := range v.Needs {
			if _, ok := tools[name]; ok {
				continue
			}
			if find[name] == nil {
				return nil, fmt.Errorf("variant %s needs %s: no such tool is known", v.Name, name)
			}
			path, err := find[name](ctx, true, say)
			if err != nil {
				return nil, err
			}
			tools[name] = path
		}
	}
	return tools, nil
}
