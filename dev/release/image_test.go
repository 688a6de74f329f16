package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// parts returns the only layer of the first image in a layout, and its configuration. It checks that all
// referenced blobs exist and are named by their digest.
func parts(t *testing.T, path string) (layer []byte, config string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	files := make(map[string][]byte)
	for r := tar.NewReader(f); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if files[h.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Contains(files["oci-layout"], []byte(`"1.0.0"`)) {
		t.Fatalf("oci-layout is %s", files["oci-layout"])
	}
	blob := func(d descriptor) []byte {
		t.Helper()
		text := files["blobs/"+strings.Replace(d.Digest, ":", "/", 1)]
		if sum := sha256.Sum256(text); "sha256:"+hex.EncodeToString(sum[:]) != d.Digest || int64(len(text)) != d.Size {
			t.Fatalf("%s has %d bytes", d.Digest, len(text))
		}
		return text
	}
	read := func(text []byte, into any) {
		t.Helper()
		if err := json.Unmarshal(text, into); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
	}
	var top, index struct{ Manifests []descriptor }
	read(files["index.json"], &top)
	read(blob(top.Manifests[0]), &index)
	var manifest struct {
		Config descriptor
		Layers []descriptor
	}
	read(blob(index.Manifests[0]), &manifest)
	z, err := gzip.NewReader(bytes.NewReader(blob(manifest.Layers[0])))
	if err == nil {
		layer, err = io.ReadAll(z)
	}
	if err != nil || len(manifest.Layers) != 1 {
		t.Fatal(err, len(manifest.Layers))
	}
	config = string(blob(manifest.Config))
	if sum := sha256.Sum256(layer); !strings.Contains(config, hex.EncodeToString(sum[:])) {
		t.Errorf("the layer is not what the configuration says: %s", config)
	}
	return layer, config
}

// image runs the program as the image says, in a container without other files.
func image(t *testing.T, path string) {
	layer, text := parts(t, path)
	if os.Geteuid() != 0 {
		t.Skip("containers of their own namespaces need root")
	}
	found, err := exec.Command("bash", "../tools/runc.sh", "find").Output()
	if err != nil && os.Getenv("RUNC") == "" {
		t.Skip("no containers are made here: dev/tools/runc.sh fetches what makes them")
	} else if err != nil {
		t.Fatal(err)
	}
	runc := strings.TrimSpace(string(found))
	var of struct {
		Config struct {
			User, WorkingDir string
			Entrypoint, Env  []string
		}
	}
	if err := json.Unmarshal([]byte(text), &of); err != nil || of.Config.User != nobody+":"+nobody {
		t.Fatal(err, of)
	}
	dir := t.TempDir()
	unpack(t, layer, filepath.Join(dir, "rootfs"))
	log, err := filepath.Abs(fixture)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "rootfs/in"), 0o755); err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		args []string
		want string
	}{
		{[]string{"version"}, version},
		{[]string{"/in/gctrace.log", "-o", "report.html"}, "wrote report.html"},
	} {
		bundle, err := json.Marshal(map[string]any{
			"ociVersion": "1.0.2", "root": map[string]any{"path": "rootfs"}, "hostname": "unstall",
			"process": map[string]any{"args": append(of.Config.Entrypoint, c.args...), "env": of.Config.Env, "cwd": of.Config.WorkingDir, "user": map[string]any{"uid": 65532, "gid": 65532}},
			"mounts": []any{
				map[string]any{"destination": "/proc", "type": "proc", "source": "proc"},
				map[string]any{"destination": "/in/gctrace.log", "type": "bind", "source": log, "options": []string{"rbind", "ro"}},
			},
			"linux": map[string]any{"namespaces": []any{map[string]any{"type": "pid"}, map[string]any{"type": "mount"}, map[string]any{"type": "network"}, map[string]any{"type": "ipc"}, map[string]any{"type": "uts"}}},
		})
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "config.json"), bundle, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		id := fmt.Sprintf("unstall-image-%d-%d", os.Getpid(), i)
		t.Cleanup(func() { _ = exec.Command(runc, "delete", "--force", id).Run() })
		said, err := exec.Command(runc, "run", "--bundle", dir, id).CombinedOutput()
		if err != nil || !strings.Contains(string(said), c.want) {
			t.Errorf("unstall %v in the image: %v: %s", c.args, err, said)
		}
	}
}

// unpack puts a layer's files into a folder.
func unpack(t *testing.T, layer []byte, root string) {
	t.Helper()
	for r := tar.NewReader(bytes.NewReader(layer)); ; {
		h, err := r.Next()
		if err == io.EOF {
			return
		}
		path := filepath.Join(root, h.Name)
		if err == nil && h.Typeflag == tar.TypeDir {
			if err = os.MkdirAll(path, 0o755); err == nil {
				err = os.Chmod(path, h.FileInfo().Mode())
			}
		} else if err == nil {
			var text []byte
			if text, err = io.ReadAll(r); err == nil {
				err = os.WriteFile(path, text, h.FileInfo().Mode().Perm())
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
