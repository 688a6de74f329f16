package build

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// FindDotnet returns a dotnet that builds and runs ASP.NET Core: $DOTNET, the newest
// on PATH, or one that dev/tools/dotnet.sh fetched: into .tools of the repository the
// tool is run in, else into the user's cache directory. With fetch it fetches one
// where there is none.
func FindDotnet(ctx context.Context, fetch bool, say func(string)) (string, error) {
	return runScript(ctx, "dotnet.sh", fetch, say)
}

// FindDotnet9 returns a dotnet that runs on .NET 9 what [Dotnet] built with an older SDK:
// $DOTNET9, one on PATH, or one that dev/tools/dotnet9.sh fetched. It compiles nothing.
// With fetch it fetches one where there is none.
func FindDotnet9(ctx context.Context, fetch bool, say func(string)) (string, error) {
	return runScript(ctx, "dotnet9.sh", fetch, say)
}

// Project is a C# program.
type Project struct {
	Sources   fs.FS
	File      string           // its .csproj, of the sources
	Libraries map[string]fs.FS // sources of the projects it refers to, by their folder beside its own
}

// collectSources returns all files that are built.
func (p Project) collectSources() (Sources, error) {
	files := Sources{}
	if err := files.Add(p.Sources, "", ".cs", ".csproj"); err != nil {
		return nil, err
	}
	for below, from := range p.Libraries {
		if err := files.Add(from, below, ".cs", ".csproj"); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// Dotnet builds a C# project and returns the assembly, which is named after its file. The target is .NET Core 3.1,
// or the SDK's own version where the SDK is newer: other versions need reference assemblies that would have to be
// fetched.
func Dotnet(ctx context.Context, dotnet, name string, project Project, say func(string)) (assembly string, err error) {
	files, err := project.collectSources()
	if err != nil {
		return "", err
	}
	version, err := SDK(ctx, dotnet)
	if err != nil {
		return "", err
	}
	dir, err := files.cacheFolder(name, "dotnet "+version)
	if err != nil {
		return "", err
	}
	base := strings.TrimSuffix(filepath.Base(project.File), ".csproj")
	assembly = filepath.Join(dir, base+".dll")
	if _, err := os.Stat(assembly); err == nil {
		return assembly, nil
	}
	say(fmt.Sprintf("building %s with the .NET SDK %s", base, version))
	return assembly, dotnetBuild(ctx, dotnet, version, files, project.File, dir)
}

// SDK returns the version that a dotnet builds with: "3.1.102".
func SDK(ctx context.Context, dotnet string) (string, error) {
	cmd := exec.CommandContext(ctx, dotnet, "--version")
	cmd.Env, cmd.Dir = DotnetEnv(), os.TempDir()
	said, err := cmd.CombinedOutput()
	version := strings.TrimSpace(string(said))
	switch {
	case err != nil:
		return "", fmt.Errorf("%s --version: %w: %s", dotnet, err, version)
	case !regexp.MustCompile(`^\d+\.\d+\.`).MatchString(version):
		return "", fmt.Errorf("%s --version: %q is not a version", dotnet, version)
	}
	return version, nil
}

// DotnetEnv returns the environment for a dotnet: it needs no ICU, sends no telemetry and
// prints no welcome.
func DotnetEnv(more ...string) []string {
	return append(append(os.Environ(), "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1", "DOTNET_CLI_TELEMETRY_OPTOUT=1", "DOTNET_NOLOGO=1",
		"DOTNET_SKIP_FIRST_TIME_EXPERIENCE=1", "DOTNET_GENERATE_ASPNET_CERTIFICATE=false"), more...)
}

// OpenSSL returns what the environment needs for a fetched dotnet to find a libssl that is as
// old as it: its compiler needs one, and so do programs that use HttpListener or ciphers.
func OpenSSL(dotnet string) []string {
	if dir := filepath.Join(filepath.Dir(dotnet), "openssl"); isDir(dir) {
		return []string{"LD_LIBRARY_PATH=" + dir}
	}
	return nil
}

// dotnetBuild builds in a folder of its own, without a package source, and moves the
// result into place at once.
func dotnetBuild(ctx context.Context, dotnet, version string, files Sources, project, dir string) error {
	work, err := os.MkdirTemp("", "unstall-lab-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if err := files.layOut(work); err != nil {
		return err
	}
	empty := filepath.Join(work, "no-packages")
	if err := os.MkdirAll(empty, 0o755); err != nil {
		return err
	}
	fresh := fmt.Sprintf("%s.%d", dir, os.Getpid())
	defer os.RemoveAll(fresh)
	args := []string{"build", filepath.FromSlash(project), "-c", "Release", "--source", empty, "-o", fresh, "-nodeReuse:false", "-p:UseSharedCompilation=false"}
	if !strings.HasPrefix(version, "3.1.") {
		f := strings.SplitN(version, ".", 3)
		args = append(args, "-p:TargetFramework=net"+f[0]+"."+f[1])
	}
	cmd := exec.CommandContext(ctx, dotnet, args...)
	cmd.Dir = work
	cmd.Env = append(DotnetEnv("DOTNET_CLI_HOME="+work, "NUGET_PACKAGES="+filepath.Join(work, "packages")), OpenSSL(dotnet)...)
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("dotnet build %s: %w: %s", project, err, errorLine(said))
	}
	if err := os.Rename(fresh, dir); err != nil && !isDir(dir) { // another process may have been faster
		return err
	}
	return nil
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// errorLine returns the first error in the output of a build, else all output.
func errorLine(said []byte) string {
	for line := range strings.Lines(string(said)) {
		if strings.Contains(line, "error") {
			return strings.TrimSpace(line)
		}
	}
	return strings.TrimSpace(string(said))
}
