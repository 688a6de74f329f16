package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/unstall/unstall/lab/build"
)

// errSkip says that this host lacks something that a service needs.
var errSkip = errors.New("not on this host")

// started is the command that starts a program, without the program's own arguments.
type started struct {
	bin  string
	args []string
	env  []string
	// listens returns arguments with the program's address, if it does not read ADDR.
	listens func(host, port string) []string
}

// buildPrograms builds all programs of a service, so that nothing is built while one runs.
func (s *service) buildPrograms(ctx context.Context, o options) error {
	s.built = make(map[string]started)
	for _, p := range s.Known.allPrograms() {
		if _, ok := s.built[p.buildKey()]; ok {
			continue
		}
		how, err := s.buildProgram(ctx, o, p)
		if err != nil {
			return err
		}
		s.built[p.buildKey()] = how
	}
	return nil
}

// buildKey identifies the build that a program of a service needs.
func (p program) buildKey() string { return p.Runtime + " " + p.Program }

// folderName returns the name of the service's folder.
func (s *service) folderName() string { return filepath.Base(s.Dir) }

// buildProgram builds a program of a service and returns how it is started.
func (s *service) buildProgram(ctx context.Context, o options, p program) (started, error) {
	if major, ok := strings.CutPrefix(p.Runtime, "jvm"); ok {
		n, err := strconv.Atoi(major)
		if err != nil {
			return started{}, err
		}
		return s.buildJava(ctx, o, p, n)
	}
	switch p.Runtime {
	case "go":
		return s.buildGo(ctx, o, p)
	case "c":
		return s.buildC(ctx, o, p)
	case "rust":
		return s.buildRust(ctx, o, p)
	case "redis":
		return prepareRedis(ctx)
	case "nginx":
		return s.prepareNginx(ctx, p)
	case "php":
		return s.preparePHP(ctx, p)
	case "postgres":
		return s.preparePostgres(ctx, o, p)
	case "mariadb":
		return s.prepareMariaDB(ctx, o, p)
	case "node":
		return s.prepareNode(ctx, p)
	case "python":
		return s.preparePython(ctx, p)
	}
	return s.buildDotnet(ctx, p)
}

// buildUnstall returns the path of the unstall to measure: the one that -unstall names, else one
// that it builds.
func buildUnstall(ctx context.Context, o options) (string, error) {
	if o.binary != "" {
		return filepath.Abs(o.binary)
	}
	var flags []string
	if said, err := exec.CommandContext(ctx, "git", "describe", "--tags", "--always", "--dirty").Output(); err == nil {
		flags = []string{"-ldflags", "-X main.release=" + strings.TrimSpace(string(said))}
	}
	return goBuild(ctx, ".", "./cmd/unstall", filepath.Join(o.work, "unstall"), flags...)
}

// buildGo builds a package of the services' module, with the modules it needs.
func (s *service) buildGo(ctx context.Context, o options, p program) (started, error) {
	name := path.Join(".", s.folderName())
	if p.Program != "" {
		name = path.Clean(p.Program)
	}
	bin, err := goBuild(ctx, filepath.Dir(s.Dir), "./"+name, filepath.Join(o.work, "bin", strings.ReplaceAll(name, "/", "-")))
	return started{bin: bin}, err
}

// goBuild builds with the Go toolchain, which decides what is built already.
func goBuild(ctx context.Context, dir, pkg, bin string, flags ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", slices.Concat([]string{"build", "-trimpath"}, flags, []string{"-o", bin, pkg})...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	if said, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build %s: %w: %s", pkg, err, bytes.TrimSpace(said))
	}
	return bin, nil
}

// buildJava compiles a service's files with the javac of the JDK that runs them, if it has one,
// for its release, else with an older one.
func (s *service) buildJava(ctx context.Context, o options, p program, major int) (started, error) {
	home, err := build.FindJDK(ctx, major, true, reportProgress)
	if err != nil {
		return started{}, err
	}
	javac, release := filepath.Join(home, "bin", "javac"), major
	if _, err := os.Stat(javac); err != nil {
		if javac, err = build.FindJavac(ctx, true, reportProgress); err != nil {
			return started{}, err
		}
		release = min(major, releaseOf(ctx, javac))
	}
	jars, err := fetchJars(ctx, s.Known.Jars, o)
	if err != nil {
		return started{}, err
	}
	processors, err := fetchJars(ctx, s.Known.Processors, o)
	if err != nil {
		return started{}, err
	}
	classes, err := build.JavaProcessed(ctx, javac, "accuracy-"+s.folderName(), os.DirFS(s.Dir), jars, processors, release, reportProgress)
	if err != nil {
		return started{}, err
	}
	main := "Main"
	if p.Program != "" {
		main = strings.ReplaceAll(strings.TrimSuffix(path.Clean(p.Program), ".java"), "/", ".")
	}
	classpath := strings.Join(append([]string{classes}, jars...), string(filepath.ListSeparator))
	return started{bin: filepath.Join(home, "bin", "java"), args: append(slices.Clone(p.Flags), "-cp", classpath, main)}, nil
}

// releaseOf returns the major version of a javac; without one it is the oldest supported
// version.
func releaseOf(ctx context.Context, javac string) int {
	said, _ := exec.CommandContext(ctx, javac, "-version").CombinedOutput()
	if m := regexp.MustCompile(`javac (\d+)`).FindSubmatch(said); m != nil {
		if n, err := strconv.Atoi(string(m[1])); err == nil {
			return n
		}
	}
	return 11
}

// central is Maven Central.
const central = "https://repo1.maven.org/maven2/"

// fetchJars returns the paths of jars, which it downloads unless they are there already.
func fetchJars(ctx context.Context, jars []jar, o options) (files []string, err error) {
	for _, j := range jars {
		file, err := j.fetch(ctx, filepath.Join(o.work, "jars"))
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// fetch returns the path of a jar, which it downloads unless dir has it already.
func (j jar) fetch(ctx context.Context, dir string) (file string, err error) {
	file = filepath.Join(dir, path.Base(j.URL))
	if content, err := os.ReadFile(file); err == nil && j.matchesSum(content) {
		return file, nil
	}
	if !strings.HasPrefix(j.URL, central) {
		return "", fmt.Errorf("jars: %s is not of Maven Central", j.URL)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, j.URL, nil)
	if err != nil {
		return "", err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	switch {
	case err != nil:
		return "", err
	case answer.StatusCode != http.StatusOK:
		return "", fmt.Errorf("%s: %s", j.URL, answer.Status)
	case !j.matchesSum(content):
		return "", fmt.Errorf("%s is not the file that was expected: its SHA-256 is %x", j.URL, sha256.Sum256(content))
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	return file, os.WriteFile(file, content, 0o644)
}

func (j jar) matchesSum(content []byte) bool {
	return fmt.Sprintf("%x", sha256.Sum256(content)) == j.SHA256
}

// buildC compiles a program of one file.
func (s *service) buildC(ctx context.Context, o options, p program) (started, error) {
	cc, err := exec.LookPath("cc")
	if err != nil {
		return started{}, fmt.Errorf("%w: a C compiler (cc)", errSkip)
	}
	name := "main.c"
	if p.Program != "" {
		name = p.Program
	}
	bin := filepath.Join(o.work, "bin", s.folderName()+"-"+strings.TrimSuffix(path.Base(name), ".c"))
	if err := os.MkdirAll(filepath.Dir(bin), 0o755); err != nil {
		return started{}, err
	}
	said, err := exec.CommandContext(ctx, cc, "-O2", "-g", "-pthread", "-o", bin, filepath.Join(s.Dir, name), "-lm").CombinedOutput()
	if err != nil {
		return started{}, fmt.Errorf("cc %s: %w: %s", name, err, bytes.TrimSpace(said))
	}
	return started{bin: bin}, nil
}

// buildRust compiles a program of one file, or the package of a folder with the crates that its
// Cargo.lock pins.
func (s *service) buildRust(ctx context.Context, o options, p program) (started, error) {
	if _, err := os.Stat(filepath.Join(s.Dir, "Cargo.lock")); err == nil {
		return s.buildCargo(ctx, o, cmp.Or(p.Program, s.folderName()))
	}
	rustc, err := exec.LookPath("rustc")
	if err != nil {
		return started{}, fmt.Errorf("%w: a Rust compiler (rustc)", errSkip)
	}
	name := "main.rs"
	if p.Program != "" {
		name = p.Program
	}
	bin := filepath.Join(o.work, "bin", s.folderName()+"-"+strings.TrimSuffix(path.Base(name), ".rs"))
	if err := os.MkdirAll(filepath.Dir(bin), 0o755); err != nil {
		return started{}, err
	}
	said, err := exec.CommandContext(ctx, rustc, "--edition", "2021", "-O", "-g", "-o", bin, filepath.Join(s.Dir, name)).CombinedOutput()
	if err != nil {
		return started{}, fmt.Errorf("rustc %s: %w: %s", name, err, bytes.TrimSpace(said))
	}
	return started{bin: bin}, nil
}

// buildCargo builds the package in a service's folder and returns its program with the given name.
// Builds are kept in the work folder, so that the next run reuses them.
func (s *service) buildCargo(ctx context.Context, o options, name string) (started, error) {
	if _, err := exec.LookPath("cargo"); err != nil {
		return started{}, fmt.Errorf("%w: Rust's cargo", errSkip)
	}
	target, err := filepath.Abs(filepath.Join(o.work, "cargo", s.folderName()))
	if err != nil {
		return started{}, err
	}
	logLine("cargo build %s", s.folderName())
	cmd := exec.CommandContext(ctx, "cargo", "build", "--release", "--locked", "--quiet", "--target-dir", target)
	cmd.Dir = s.Dir
	if said, err := cmd.CombinedOutput(); err != nil {
		return started{}, fmt.Errorf("cargo build %s: %w: %s", s.folderName(), err, lastLine(said))
	}
	return started{bin: filepath.Join(target, "release", name)}, nil
}

// prepareRedis returns how a Redis without persistence is started.
func prepareRedis(ctx context.Context) (started, error) {
	bin, err := build.FindRedis(ctx, true, reportProgress)
	if err != nil {
		return started{}, fmt.Errorf("%w: %w", errSkip, err)
	}
	return started{bin: bin, listens: func(host, port string) []string {
		return []string{"--bind", host, "--port", port, "--save", "", "--appendonly", "no"}
	}}, nil
}

// fillIn returns a shell command that writes a configuration with the addresses of the environment, and with the folder
// of the service for $here, and then executes the program that reads it.
func fillIn(name, become string) string {
	return `here=$(dirname "$1") && eval "cat <<end
$(cat "$1")
end" >` + name + ` && exec "$0" ` + become
}

// prepareNginx returns how an nginx is started that reads a configuration in the service's folder,
// where $ADDR and $ADDR_NAME stand for addresses.
func (s *service) prepareNginx(ctx context.Context, p program) (started, error) {
	bin, err := build.FindNginx(ctx, true, reportProgress)
	if err != nil {
		return started{}, fmt.Errorf("%w: %w", errSkip, err)
	}
	conf, err := filepath.Abs(filepath.Join(s.Dir, cmp.Or(p.Program, "nginx.conf")))
	script := fillIn("nginx.conf", `-p "$PWD/" -c nginx.conf -e nginx-errors.log -g 'daemon off;'`)
	return started{bin: "/bin/sh", args: []string{"-c", script, bin, conf}}, err
}

// preparePHP returns how a PHP-FPM is started that reads a configuration in the service's folder,
// filled in like nginx's. It serves FastCGI.
func (s *service) preparePHP(ctx context.Context, p program) (started, error) {
	bin, err := build.FindPHP(ctx, true, reportProgress)
	if err != nil {
		return started{}, fmt.Errorf("%w: %w", errSkip, err)
	}
	conf, err := filepath.Abs(filepath.Join(s.Dir, cmp.Or(p.Program, "fpm.conf")))
	script := fillIn("fpm.conf", `--nodaemonize --allow-to-run-as-root -p "$PWD" -y fpm.conf`)
	return started{bin: "/bin/sh", args: []string{"-c", script, bin, conf}}, err
}

// buildDotnet builds the project of a service and runs it on the newest .NET there is (dotnet), or
// on the version that its runtime names.
func (s *service) buildDotnet(ctx context.Context, p program) (started, error) {
	sdk, err := build.FindDotnet(ctx, true, reportProgress)
	if err != nil {
		return started{}, fmt.Errorf("%w: %w", errSkip, err)
	}
	runs := sdk
	if p.Runtime != "dotnet" {
		version, err := build.SDK(ctx, sdk)
		if err != nil {
			return started{}, err
		}
		if !strings.HasPrefix(version, "3.1.") { // a newer SDK's build does not run on every older runtime
			return started{}, fmt.Errorf("%w: the .NET Core SDK 3.1: %s is %s", errSkip, sdk, version)
		}
	}
	if p.Runtime == "dotnet9" {
		if runs, err = build.FindDotnet9(ctx, true, reportProgress); err != nil {
			return started{}, fmt.Errorf("%w: %w", errSkip, err)
		}
	}
	project := p.Program
	if project == "" {
		project = s.folderName() + ".csproj"
	}
	assembly, err := build.Dotnet(ctx, sdk, "accuracy-"+s.folderName(), build.Project{Sources: os.DirFS(s.Dir), File: project}, reportProgress)
	return started{bin: runs, args: []string{assembly}, env: build.DotnetEnv(build.OpenSSL(runs)...)}, err
}

// prepareNode returns how a JavaScript file is run with the packages that dev/tools/node-web.sh
// fetched.
func (s *service) prepareNode(ctx context.Context, p program) (started, error) {
	packages, err := build.FindNodeWeb(ctx, true, reportProgress)
	if err != nil {
		return started{}, fmt.Errorf("%w: %w", errSkip, err)
	}
	bin, err := exec.LookPath("node")
	if err != nil {
		return started{}, fmt.Errorf("%w: node", errSkip)
	}
	file, err := filepath.Abs(filepath.Join(s.Dir, cmp.Or(p.Program, "main.js")))
	return started{bin: bin, args: []string{file}, env: build.Node(packages)}, err
}

// preparePython returns how a Python file is run with the packages that dev/tools/python-web.sh
// fetched.
func (s *service) preparePython(ctx context.Context, p program) (started, error) {
	bin, err := build.FindPythonWeb(ctx, true, reportProgress)
	if err != nil {
		return started{}, fmt.Errorf("%w: %w", errSkip, err)
	}
	file, err := filepath.Abs(filepath.Join(s.Dir, cmp.Or(p.Program, "main.py")))
	return started{bin: bin, args: []string{file}}, err
}

func reportProgress(text string) { logLine("%s", text) }
