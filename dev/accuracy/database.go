package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/unstall/unstall/lab/build"
	"github.com/unstall/unstall/lab/process"
)

// nobody is the user that databases run as where this is root, whom they refuse.
const nobody = "65534"

// database is a kind of database that is filled once, by a file of SQL. Each service gets
// a copy of its own.
type database struct {
	kind   string
	server string // the program
	// fill makes a folder with the data.
	fill func(ctx context.Context, dir string) error
	// arguments start the server on a folder.
	arguments []string
	listens   func(host, port string) []string
}

// serve starts a server on a copy of what the file of SQL made.
func (d database) serve(ctx context.Context, o options, sql string) (started, error) {
	text, err := os.ReadFile(sql)
	if err != nil {
		return started{}, err
	}
	filled := filepath.Join(o.work, "databases", fmt.Sprintf("%s-%.16x", d.kind, sha256.Sum256(text)))
	if _, err := os.Stat(filled); err != nil {
		if err := d.make(ctx, filled); err != nil {
			return started{}, fmt.Errorf("%s: %s: %w", d.kind, filepath.Base(sql), err)
		}
	}
	// The copy is in the folder of what the service writes, which the user of the database may enter.
	script := `set -e; chmod a+x .; cp -a "$0" data-` + d.kind + `; exec "$@"`
	args := append([]string{"-c", script, filled}, asNobody(d.server)...)
	return started{bin: "/bin/sh", args: append(args, d.arguments...), listens: d.listens}, nil
}

// make fills a database in a folder that its user may enter, and moves it where it is kept.
func (d database) make(ctx context.Context, filled string) error {
	say("filling a %s", d.kind)
	dir, err := os.MkdirTemp("", "unstall-accuracy-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if os.Geteuid() == 0 {
		if err := os.Chown(dir, 65534, 65534); err != nil {
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

// asNobody is the command line of a program of a database. It ends if who started it does.
func asNobody(bin string, args ...string) []string {
	words := append([]string{bin}, args...)
	if os.Geteuid() == 0 {
		words = append([]string{"setpriv", "--reuid=" + nobody, "--regid=" + nobody, "--clear-groups", "--pdeathsig=TERM"}, words...)
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

// postgres is a PostgreSQL whose data are in a folder of their own. It writes nothing to
// the disk on commit: the faults are none of the disk's.
func (s *service) postgres(ctx context.Context, o options, p program) (started, error) {
	server, err := build.FindPostgres(ctx, true, progress)
	if err != nil {
		return started{}, fmt.Errorf("%w: %w", errSkip, err)
	}
	bin, libraries, err := build.PostgresTools(server)
	if err != nil {
		return started{}, fmt.Errorf("%w: %w", errSkip, err)
	}
	sql := filepath.Join(s.Dir, cmp.Or(p.Program, "schema.sql"))
	tool := func(ctx context.Context, dir, name string, args ...string) *exec.Cmd {
		words := asNobody(filepath.Join(bin, name), args...)
		cmd := exec.CommandContext(ctx, words[0], words[1:]...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), libraries...)
		return cmd
	}
	settings := []string{"-c", "unix_socket_directories=", "-c", "fsync=off", "-c", "shared_buffers=128MB", "-c", "max_connections=200", "-c", "log_min_messages=warning"}
	d := database{kind: "postgres", server: server, arguments: append([]string{"-D", "data-postgres"}, settings...)}
	d.listens = func(host, port string) []string { return []string{"-c", "listen_addresses=" + host, "-p", port} }
	d.fill = func(ctx context.Context, dir string) error {
		if err := runTool(tool(ctx, dir, "initdb", "-D", "data", "-U", "shop", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")); err != nil {
			return err
		}
		address, err := process.FreeAddress()
		if err != nil {
			return err
		}
		host, port, _ := strings.Cut(address, ":")
		words := asNobody(server, append([]string{"-D", "data", "-c", "listen_addresses=" + host, "-p", port}, settings...)...)
		run, err := process.Launch(process.Spec{Bin: words[0], Args: words[1:], Dir: dir, Env: append(os.Environ(), libraries...), Log: filepath.Join(dir, "said.log")})
		if err != nil {
			return err
		}
		defer run.Stop()
		if err := run.Accepts(ctx, address, o.patience); err != nil {
			return err
		}
		psql := func(file, database string, args ...string) error {
			words := append([]string{"-qX", "-v", "ON_ERROR_STOP=1", "-h", host, "-p", port, "-U", "shop", "-d", database}, args...)
			cmd := tool(ctx, dir, "psql", words...)
			if file != "" {
				in, err := os.Open(file)
				if err != nil {
					return err
				}
				defer in.Close()
				cmd.Stdin = in
			}
			return runTool(cmd)
		}
		// It accepts connections a little before it answers them.
		answers := func() error { return psql("", "postgres", "-c", "create database shop") }
		for late := time.Now().Add(o.patience); ; {
			err := answers()
			if err == nil {
				break
			}
			if time.Now().After(late) || ctx.Err() != nil || !strings.Contains(err.Error(), "starting up") {
				return err
			}
		}
		if err := psql(sql, "shop"); err != nil {
			return err
		}
		return run.Stop()
	}
	how, err := d.serve(ctx, o, sql)
	how.env = append(os.Environ(), libraries...)
	return how, err
}

// mariadb is a MariaDB that lets everybody in, filled like a PostgreSQL.
func (s *service) mariadb(ctx context.Context, o options, p program) (started, error) {
	server, err := build.FindMariaDB(ctx, true, progress)
	if err != nil {
		return started{}, fmt.Errorf("%w: %w", errSkip, err)
	}
	share := build.MariaDBTables(server)
	sql := filepath.Join(s.Dir, cmp.Or(p.Program, "schema.sql"))
	settings := []string{"--no-defaults", "--lc-messages-dir=" + share, "--skip-grant-tables", "--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=128M"}
	d := database{kind: "mariadb", server: server}
	d.arguments = append(settings, "--datadir=data-mariadb", "--socket=mariadb.sock", "--pid-file=mariadb.pid")
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
		words := asNobody("/bin/sh", append([]string{"-c", `mkdir data && exec "$0" "$@"`, server}, append(settings, "--bootstrap", "--datadir=data")...)...)
		cmd := exec.CommandContext(ctx, words[0], words[1:]...)
		cmd.Dir, cmd.Stdin = dir, text
		return runTool(cmd)
	}
	return d.serve(ctx, o, sql)
}
