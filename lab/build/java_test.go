package build

import (
	"archive/zip"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
)

// generator is an annotation processor that writes the class Cup.
const generator = `
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.util.Set;
import javax.annotation.processing.AbstractProcessor;
import javax.annotation.processing.RoundEnvironment;
import javax.annotation.processing.SupportedAnnotationTypes;
import javax.lang.model.element.TypeElement;

@SupportedAnnotationTypes("*")
public class Generator extends AbstractProcessor {
	@Override
	public boolean process(Set<? extends TypeElement> annotations, RoundEnvironment round) {
		if (!round.processingOver() && processingEnv.getElementUtils().getTypeElement("Cup") == null) {
			try (Writer source = processingEnv.getFiler().createSourceFile("Cup").openWriter()) {
				source.write("class Cup {}");
			} catch (IOException e) {
				throw new UncheckedIOException(e);
			}
		}
		return false;
	}
}`

// TestJavaProcessed compiles a class that needs one which an annotation processor writes.
func TestJavaProcessed(t *testing.T) {
	ctx, say := t.Context(), func(text string) { t.Log(text) }
	javac, err := FindJavac(ctx, false, say)
	if err != nil {
		t.Skip(err)
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	classes, err := Java(ctx, javac, "generator", fstest.MapFS{"Generator.java": {Data: []byte(generator)}}, nil, 11, say)
	if err != nil {
		t.Fatal(err)
	}
	jar := packProcessor(t, filepath.Join(classes, "Generator.class"))
	tea := fstest.MapFS{"Tea.java": {Data: []byte("class Tea { Object cup = new Cup(); }")}}
	if _, err := Java(ctx, javac, "tea", tea, []string{jar}, 11, say); err == nil {
		t.Error("a processor ran that is a dependency alone")
	}
	classes, err = JavaProcessed(ctx, javac, "tea", tea, nil, []string{jar}, 11, say)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Tea.class", "Cup.class"} {
		if _, err := os.Stat(filepath.Join(classes, name)); err != nil {
			t.Error(err)
		}
	}
	if _, err := JavaProcessed(ctx, javac, "tea", tea, nil, []string{"no.jar"}, 11, say); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without its processor: error %v", err)
	}
}

// packProcessor returns a jar that names the class as a processor.
func packProcessor(t *testing.T, class string) (jar string) {
	t.Helper()
	content, err := os.ReadFile(class)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "generator.jar"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	w := zip.NewWriter(file)
	for name, text := range map[string][]byte{
		"META-INF/services/javax.annotation.processing.Processor": []byte("Generator\n"),
		"Generator.class": content,
	} {
		entry, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := entry.Write(text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Name()
}
