package build

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// FindJDK returns the home of a JDK of a major version, 11, 17, 21 or 25, with
// bin/java, jcmd and jfr, if not with a javac: $JDK11 ($JDK17, …), one installed, or
// one that dev/tools/jdk.sh fetched. With fetch it fetches one where there is none.
func FindJDK(ctx context.Context, major int, fetch bool, say func(string)) (string, error) {
	return runScript(ctx, "jdk.sh", fetch, say, strconv.Itoa(major))
}

// FindJavac returns a javac that compiles for Java 11 and later: $JAVAC, the first on
// PATH, one in /usr/lib/jvm, or one that dev/tools/javac.sh fetched. With fetch it fetches
// one where there is none.
func FindJavac(ctx context.Context, fetch bool, say func(string)) (string, error) {
	return runScript(ctx, "javac.sh", fetch, say)
}

// FindTomcat returns a folder with Tomcat 9, its jars in lib: $TOMCAT, or one that
// dev/tools/tomcat.sh fetched. With fetch it fetches one where there is none.
func FindTomcat(ctx context.Context, fetch bool, say func(string)) (string, error) {
	return runScript(ctx, "tomcat.sh", fetch, say)
}

// FindJMC returns a folder with the jars of JDK Mission Control's flight-recorder parser and rules that
// dev/tools/jmc.sh fetched. With fetch it fetches them where there are none.
func FindJMC(ctx context.Context, fetch bool, say func(string)) (string, error) {
	return runScript(ctx, "jmc.sh", fetch, say)
}

// Jars returns the paths of the jars in a folder, sorted.
func Jars(dir string) ([]string, error) {
	jars, err := filepath.Glob(filepath.Join(dir, "*.jar"))
	if err == nil && len(jars) == 0 {
		err = fmt.Errorf("%s holds no jars", dir)
	}
	return jars, err
}

// Java compiles the sources' .java files for a release of Java, 11 or later, against
// the jars of a class path and returns the folder of the classes. The same sources,
// compiler and jars are compiled only once.
func Java(ctx context.Context, javac, name string, sources fs.FS, classpath []string, release int, say func(string)) (classes string, err error) {
	return JavaProcessed(ctx, javac, name, sources, classpath, nil, release, say)
}

// JavaProcessed compiles like Java, and runs the annotation processors that some jars
// hold, which write further classes.
func JavaProcessed(ctx context.Context, javac, name string, sources fs.FS, classpath, processors []string, release int, say func(string)) (classes string, err error) {
	files := Sources{}
	if err := files.Add(sources, "", ".java"); err != nil {
		return "", err
	}
	if len(files) == 0 {
		return "", fmt.Errorf("%s: there is no .java file among its sources", name)
	}
	toolchain, err := javacVersion(ctx, javac)
	if err != nil {
		return "", err
	}
	with := fmt.Sprintf("%s release %d", toolchain, release)
	for n, jar := range slices.Concat(classpath, processors) {
		content, err := os.ReadFile(jar)
		if err != nil {
			return "", err
		}
		if n == len(classpath) {
			with += " processors"
		}
		with += fmt.Sprintf(" %x", sha256.Sum256(content))
	}
	dir, err := files.cacheFolder(name, with)
	if err != nil || isDir(dir) {
		return dir, err
	}
	say(fmt.Sprintf("compiling %s with %s", name, toolchain))
	return dir, javaBuild(ctx, javac, files, classpath, processors, release, dir)
}

// javacVersion returns the name and version of a compiler: "javac 17.0.15".
func javacVersion(ctx context.Context, javac string) (string, error) {
	said, err := exec.CommandContext(ctx, javac, "-version").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s -version: %w: %s", javac, err, errorLine(said))
	}
	for line := range strings.Lines(string(said)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "Picked up ") { // JAVA_TOOL_OPTIONS makes it print such lines
			return line, nil
		}
	}
	return "", fmt.Errorf("%s -version: it prints nothing", javac)
}

// javaBuild compiles in a folder of its own and moves the classes into place at
// once.
func javaBuild(ctx context.Context, javac string, files Sources, classpath, processors []string, release int, dir string) error {
	work, err := os.MkdirTemp("", "unstall-lab-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if err := files.layOut(work); err != nil {
		return err
	}
	fresh := fmt.Sprintf("%s.%d", dir, os.Getpid())
	if err := os.RemoveAll(fresh); err != nil { // left by a killed process with the same number
		return err
	}
	defer os.RemoveAll(fresh)
	args := []string{"-d", fresh, "-encoding", "UTF-8", "-nowarn", "--release", strconv.Itoa(release)}
	if len(processors) > 0 {
		args = append(args, "-processorpath", strings.Join(processors, string(filepath.ListSeparator)))
	} else {
		args = append(args, "-proc:none")
	}
	if len(classpath) > 0 {
		args = append(args, "-cp", strings.Join(classpath, string(filepath.ListSeparator)))
	}
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, filepath.FromSlash(name))
	}
	slices.Sort(names)
	cmd := exec.CommandContext(ctx, javac, append(args, names...)...)
	cmd.Dir = work
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", javac, err, bytes.TrimSpace(said))
	}
	if err := os.Rename(fresh, dir); err != nil && !isDir(dir) { // another process may have been faster
		return err
	}
	return nil
}
