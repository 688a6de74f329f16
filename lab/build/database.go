package build

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// FindPostgres returns a postgres, PostgreSQL's server: $POSTGRES, the first on PATH, or one
// that dev/tools/postgres.sh fetched. With fetch it fetches one where there is none.
func FindPostgres(ctx context.Context, fetch bool, say func(string)) (string, error) {
	return runScript(ctx, "postgres.sh", fetch, say)
}

// PostgresTools returns the folder of the initdb and psql that go with a postgres, and the
// environment variables that they need beside the host's.
func PostgresTools(server string) (bin string, env []string, err error) {
	if real, err := filepath.EvalSymlinks(server); err == nil {
		bin = filepath.Dir(real)
	}
	root := filepath.Join(filepath.Dir(server), "root")
	if found, _ := filepath.Glob(filepath.Join(root, "usr/lib/postgresql/*/bin")); len(found) > 0 { // the pattern is well-formed
		bin = found[len(found)-1]
		libraries, _ := filepath.Glob(filepath.Join(root, "usr/lib/*-linux-gnu"))
		env = []string{"LD_LIBRARY_PATH=" + strings.Join(libraries, string(filepath.ListSeparator))}
	}
	for _, name := range []string{"initdb", "psql"} {
		if !isFile(filepath.Join(bin, name)) {
			return "", nil, errors.New("there is no " + name + " beside " + server)
		}
	}
	return bin, env, nil
}

// FindMariaDB returns a mariadbd: $MARIADB, the first on PATH, or one that
// dev/tools/mariadb.sh fetched. With fetch it fetches one where there is none.
func FindMariaDB(ctx context.Context, fetch bool, say func(string)) (string, error) {
	return runScript(ctx, "mariadb.sh", fetch, say)
}

// MariaDBTables returns the folder with the system tables and the messages that go with a mariadbd.
func MariaDBTables(server string) string {
	if dir := filepath.Join(filepath.Dir(server), "root/usr/share/mysql"); isDir(dir) {
		return dir
	}
	return "/usr/share/mysql"
}

// FindNodeWeb returns a folder whose node_modules hold Express, Fastify, pg and ioredis: $NODE_WEB, or one that
// dev/tools/node-web.sh fetched. With fetch it fetches them where there are none.
func FindNodeWeb(ctx context.Context, fetch bool, say func(string)) (string, error) {
	return runScript(ctx, "node-web.sh", fetch, say)
}

// FindPythonWeb returns a Python with Flask, Django, FastAPI, aiohttp and what serves them: $PYTHON_WEB, or one
// that dev/tools/python-web.sh made. With fetch it makes one where there is none.
func FindPythonWeb(ctx context.Context, fetch bool, say func(string)) (string, error) {
	return runScript(ctx, "python-web.sh", fetch, say)
}

// Node returns the environment in which node finds the packages of a folder.
func Node(dir string) []string {
	return append(os.Environ(), "NODE_PATH="+filepath.Join(dir, "node_modules"))
}
