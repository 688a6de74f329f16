package build

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
)

// FindRedis returns a redis-server: $REDIS, the first on PATH, or one that
// dev/tools/redis.sh fetched. With fetch it fetches one where there is none.
func FindRedis(ctx context.Context, fetch bool, say func(string)) (string, error) {
	return runScript(ctx, "redis.sh", fetch, say)
}

// RedisTool returns the redis-cli or redis-benchmark that goes with a redis-server: the one
// beside it, the one of the packages that dev/tools/redis.sh fetched, with the environment
// it needs, or the first on PATH.
func RedisTool(server, name string) (bin string, env []string, err error) {
	env = os.Environ()
	if bin = filepath.Join(filepath.Dir(server), name); isFile(bin) {
		return bin, env, nil
	}
	root := filepath.Join(filepath.Dir(server), "root")
	if bin = filepath.Join(root, "usr", "bin", name); isFile(bin) {
		libraries, _ := filepath.Glob(filepath.Join(root, "usr", "lib", "*-linux-gnu")) // the pattern is well-formed
		more, _ := filepath.Glob(filepath.Join(root, "lib", "*-linux-gnu"))
		path := os.Getenv("LD_LIBRARY_PATH")
		for _, dir := range append(libraries, more...) {
			path += string(filepath.ListSeparator) + dir
		}
		return bin, append(env, "LD_LIBRARY_PATH="+path), nil
	}
	if bin, err = exec.LookPath(name); err != nil {
		return "", nil, errors.New("there is no " + name + " beside " + server + " nor on PATH")
	}
	return bin, env, nil
}

func isFile(name string) bool {
	fi, err := os.Stat(name)
	return err == nil && fi.Mode().IsRegular()
}
