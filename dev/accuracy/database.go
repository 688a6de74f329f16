package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/unstall/unstall/lab/build"
	"github.com/unstall/unstall/lab/process"
)

// nobody is the user that databases run as if this program runs as root, which they refuse.
const nobody = 65534

// database is a kind of database that a file of SQL fills once. Each service gets
// a copy of its own.
type database struct {
	kind   string
	server string // the program
	// fill makes a folder with the data.
	fill func(ctx context.Context, dir string) error
	// arguments start the server, and data, in shell syntax, names the folder of its data.
	arguments []string
	data      string
	listens   func(host, port string) []string
}

// prepareServer returns how a server is started on a copy of what the file of SQL made.
func (d database) prepareServer(ctx context.Context, o options, sql string) (started, error) {
	text, err := os.ReadFile(sql)
	if err != nil {
		return started{}, err
	}
	sum := sha256.Sum256(append(text, d.server...)) // another version may not read the data
	filled := filepath.Join(o.work, "databases", fmt.Sprintf("%s-%x", d.kind, sum[:8]))
	if _, err := os.Stat(filled); err != nil {
		if err := d.createData(ctx, filled); err != nil {
			return started{}, fmt.Errorf("%s: %s: %w", d.kind, filepath.Base(sql), err)
		}
	}
	// The copy is in the folder of the service's files, which the user of the database may enter.
	script := `set -e; chmod a+x .; cp -a "$0" data; exec "$@" ` + d.data
	args := append([]string{"-c", script, filled}, asNobody(d.server)...)
	return started{bin: "/bin/sh", args: append(args, d.arguments...), listens: d.listens}, nil
}

// createData fills a database in a folder that its user may enter, and copies it to its permanent
// place.
func (d database) createData(ctx context.Context, filled string) error {
	logLine("filling a %s", d.kind)
	dir, err := os.MkdirTemp("", "unstall-accuracy-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if os.Geteuid() == 0 {
		if err := os.Chown(dir, nobody, nobody); err != nil {
			return err
		}
	}
	if err := d.fill(ctx, dir); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(filled), 0o755); err != nil {
		return err
	}
	fresh := fmt.Sprintf("%s.%d", filled, os.Getpid())
	if err := runTool(exec.CommandContext(ctx, "cp", "-a", filepath.Join(dir, "data"), fresh)); err != nil {
		return errors.Join(err, os.RemoveAll(fresh))
	}
	return os.Rename(fresh, filled)
}

// asNobody returns the command line of a program of a database. It ends if its starter ends.
func asNobody(bin string, args ...string) []string {
	words := append([]string{bin}, args...)
	if os.Geteuid() == 0 {
		words = append([]string{"setpriv", fmt.Sprintf("--reuid=%d", nobody), fmt.Sprintf("--regid=%d", nobody), "--clear-groups", "--pdeathsig=TERM"}, words...)
	}
	return words
}

func runTool(cmd *exec.Cmd) error {
	said, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", filepath.Base(cmd.Path), err, lastLine(said))
	}
	return nil
}

func lastLine(said []byte) []byte {
	lines := bytes.Split(bytes.TrimSpace(said), []byte("\n"))
	return lines[len(lines)-1]
}

// preparePostgres returns how a PostgreSQL is started whose data are in a folder of their own. It
// does not write to the disk on commit, so that no fault comes from the disk.
func (s *service) preparePostgres(ctx context.Context, o options, p program) (started, error) {
	server, err := build.FindPostgres(ctx, true, reportProgress)
	if err != nil {
		return started{}, fmt.Errorf("%w: %w", errSkip, err)
	}
	bin, libraries, err := build.PostgresTools(server)
	if err != nil {
		return started{}, fmt.Errorf("%w: %w", errSkip, err)
	}
	pg := postgreSQL{server: server, tools: bin, env: append(os.Environ(), libraries...), patience: o.patience}
	sql := filepath.Join(s.Dir, cmp.Or(p.Program, "schema.sql"))
	d := database{kind: "postgres", server: server, arguments: postgresSettings, data: `-D "$PWD/data"`}
	d.listens = func(host, port string) []string { return []string{"-c", "listen_addresses=" + host, "-p", port} }
	d.fill = func(ctx context.Context, dir string) error { return pg.fillDatabase(ctx, dir, sql) }
	how, err := d.prepareServer(ctx, o, sql)
	how.env = pg.env
	return how, err
}

var postgresSettings = []string{"-c", "unix_socket_directories=", "-c", "fsync=off", "-c", "shared_buffers=128MB", "-c", "max_connections=200", "-c", "log_min_messages=warning"}

// postgreSQL has the paths of PostgreSQL's programs.
type postgreSQL struct {
	server, tools string // a program, a folder
	env           []string
	patience      time.Duration
}

// fillDatabase makes the folder data in dir, with the database shop that a file of SQL fills.
func (pg postgreSQL) fillDatabase(ctx context.Context, dir, sql string) error {
	if err := runTool(pg.toolCommand(ctx, dir, "initdb", "-D", "data", "-U", "shop", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")); err != nil {
		return err
	}
	address, err := process.FreeAddress()
	if err != nil {
		return err
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	words := asNobody(pg.server, append([]string{"-D", "data", "-c", "listen_addresses=" + host, "-p", port}, postgresSettings...)...)
	run, err := process.Launch(process.Spec{Bin: words[0], Args: words[1:], Dir: dir, Env: pg.env, Log: filepath.Join(dir, "said.log")})
	if err != nil {
		return err
	}
	defer run.Stop()
	if err := run.Accepts(ctx, address, pg.patience); err != nil {
		return err
	}
	in, err := os.Open(sql)
	if err != nil {
		return err
	}
	defer in.Close()
	psql := func(database string, more ...string) *exec.Cmd {
		return pg.toolCommand(ctx, dir, "psql", append([]string{"-qX", "-v", "ON_ERROR_STOP=1", "-h", host, "-p", port, "-U", "shop", "-d", database}, more...)...)
	}
	for late := time.Now().Add(pg.patience); ; { // it accepts connections a little before it answers them
		err := runTool(psql("postgres", "-c", "create database shop"))
		if err == nil {
			break
		}
		if time.Now().After(late) || ctx.Err() != nil || !strings.Contains(err.Error(), "starting up") {
			return err
		}
	}
	filling := psql("shop")
	filling.Stdin = in
	return errors.Join(runTool(filling), run.Stop())
}

// toolCommand returns the command of a program of PostgreSQL beside its server.
func (pg postgreSQL) toolCommand(ctx context.Context, dir, name string, args ...string) *exec.Cmd {
	words := asNobody(filepath.Join(pg.tools, name), args...)
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Dir, cmd.Env = dir, pg.env
	return cmd
}

// prepareMariaDB returns how a MariaDB is started that asks for no password; it is filled like a
// PostgreSQL.
func (s *service) prepareMariaDB(ctx context.Context, o options, p program) (started, error) {
	server, err := build.FindMariaDB(ctx, true, reportProgress)
	if err != nil {
		return started{}, fmt.Errorf("%w: %w", errSkip, err)
	}
	share := build.MariaDBTables(server)
	sql := filepath.Join(s.Dir, cmp.Or(p.Program, "schema.sql"))
	settings := []string{"--no-defaults", "--lc-messages-dir=" + share, "--skip-grant-tables", "--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=128M"}
	d := database{kind: "mariadb", server: server, data: `--datadir="$PWD/data" --socket="$PWD/data/mariadb.sock" --pid-file="$PWD/data/mariadb.pid"`}
	d.arguments = settings
	d.listens = func(host, port string) []string { return []string{"--bind-address=" + host, "--port=" + port} }
	d.fill = func(ctx context.Context, dir string) error {
		text := bytes.NewBufferString("create database mysql;\ncreate database shop;\nuse mysql;\n")
		for _, name := range []string{filepath.Join(share, "mysql_system_tables.sql"), filepath.Join(share, "mysql_system_tables_data.sql"), sql} {
			content, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			text.Write(content)
			text.WriteString("\n")
		}
		words := asNobody("/bin/sh", append([]string{"-c", `mkdir data && exec "$0" "$@"`, server}, append(settings, "--bootstrap", "--datadir="+filepath.Join(dir, "data"))...)...)
		cmd := exec.CommandContext(ctx, words[0], words[1:]...)
		cmd.Dir, cmd.Stdin = dir, text
		return runTool(cmd)
	}
	return d.prepareServer(ctx, o, sql)
}
