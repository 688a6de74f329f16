package main

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// keepRecording moves the files of a recording from the temporary folder to the fixture's and
// writes truth.json there.
func keepRecording(r recording, t *truth, tmp string) error {
	if err := os.MkdirAll(r.dir, 0o755); err != nil {
		return err
	}
	t.Artifacts = map[string]int64{}
	if r.capture > 0 || r.jvm != nil { // the new pieces may have other names
		old, _ := filepath.Glob(filepath.Join(r.dir, "*")) // the pattern is well-formed
		for _, f := range old {
			if err := os.Remove(f); err != nil {
				return err
			}
		}
	}
	for _, a := range r.keptArtifacts(tmp) {
		if err := copyFile(filepath.Join(tmp, a.from), filepath.Join(r.dir, a.to), a.compress); err != nil {
			return err
		}
		fi, err := os.Stat(filepath.Join(r.dir, a.to))
		if err != nil {
			return err
		}
		t.Artifacts[a.to] = fi.Size()
	}
	path := filepath.Join(r.dir, "truth.json")
	if r.flat == "" {
		return writeJSON(path, t)
	}
	all := map[string]json.RawMessage{}
	if b, err := os.ReadFile(path); err == nil {
		if err := json.Unmarshal(b, &all); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	b, err := json.Marshal(t)
	if err != nil {
		return err
	}
	all[r.flat] = b
	return writeJSON(path, all)
}

type artifact struct {
	from, to string
	compress bool
}

func (r recording) keptArtifacts(tmp string) (kept []artifact) {
	switch {
	case r.jvm != nil:
		return r.jvmFiles(tmp)
	case r.capture > 0:
		return capturedFiles(tmp)
	case r.flat != "":
		return []artifact{{"trace.out", r.flat, true}}
	case r.trace > 0 || r.whole:
		kept = append(kept, artifact{"trace.out", "trace.out.gz", true})
	}
	if r.cpu > 0 {
		kept = append(kept, artifact{"cpu.pb.gz", "cpu.pb.gz", false})
	}
	if r.accessLog {
		kept = append(kept, artifact{"access.log", "access.log.gz", true})
	}
	if r.gctrace {
		kept = append(kept, artifact{"gctrace.log", "gctrace.log", false})
	}
	if r.procfs > 0 {
		kept = append(kept, artifact{"procfs.txtar", "procfs.txtar.gz", true})
	}
	if r.goroutines {
		kept = append(kept, artifact{"goroutine-1.pb.gz", "goroutine-1.pb.gz", false}, artifact{"goroutine-2.pb.gz", "goroutine-2.pb.gz", false})
	}
	for _, p := range r.profiles {
		kept = append(kept, artifact{p + ".pb.gz", p + ".pb.gz", false})
	}
	return kept
}

func copyFile(from, to string, compress bool) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer out.Close()
	w := io.WriteCloser(out)
	if compress {
		if w, err = gzip.NewWriterLevel(out, gzip.BestCompression); err != nil {
			return err
		}
	}
	if _, err := io.Copy(w, in); err != nil {
		return err
	}
	return w.Close()
}

func writeJSON(path string, v any) error {
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o644)
}
