package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// nobody is the user of the program in the image: it suffices to serve, compare, load and read files. To
// diagnose other users' processes it needs their user, or root (docs/containers.md).
const nobody = "65532"

// descriptor says what a blob is
// (https://github.com/opencontainers/image-spec/blob/main/descriptor.md).
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int64             `json:"size"`
	Platform    *platform         `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

type platform struct {
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
}

// layout is an image in the OCI layout
// (https://github.com/opencontainers/image-spec/blob/main/image-layout.md): files in a tar, named
// by their digest. podman load and docker load (25 and later) read it, skopeo copies it anywhere.
type layout struct {
	blobs     map[string][]byte // by digest
	manifests []descriptor      // of each architecture
}

const (
	indexType    = "application/vnd.oci.image.index.v1+json"
	manifestType = "application/vnd.oci.image.manifest.v1+json"
	configType   = "application/vnd.oci.image.config.v1+json"
	layerType    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

func (l *layout) blob(kind string, text []byte) descriptor {
	sum := sha256.Sum256(text)
	d := descriptor{MediaType: kind, Digest: "sha256:" + hex.EncodeToString(sum[:]), Size: int64(len(text))}
	if l.blobs == nil {
		l.blobs = make(map[string][]byte)
	}
	l.blobs[d.Digest] = text
	return d
}

func (l *layout) json(kind string, v any) (descriptor, error) {
	text, err := json.Marshal(v)
	return l.blob(kind, text), err
}

// image adds the content of an architecture's image: the program, CA certificates, and a folder that
// any user may write into. It contains nothing else.
func (r *release) image(l *layout, t target, bin string) error {
	program, err := os.ReadFile(bin)
	if err != nil {
		return err
	}
	var plain bytes.Buffer
	w := tar.NewWriter(&plain)
	for _, f := range []struct {
		name string
		mode int64
		text []byte
	}{
		{"etc/", 0o755, nil}, {"etc/passwd", 0o644, []byte("root:x:0:0:root:/:\nnonroot:x:" + nobody + ":" + nobody + ":nonroot:/tmp:\n")},
		{"etc/group", 0o644, []byte("root:x:0:\nnonroot:x:" + nobody + ":\n")},
		{"etc/ssl/", 0o755, nil}, {"etc/ssl/certs/", 0o755, nil}, {"etc/ssl/certs/ca-certificates.crt", 0o644, constraintFreeRoots()},
		{"tmp/", 0o1777, nil}, {"unstall", 0o755, program},
	} {
		h := &tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.text)), ModTime: r.at, Format: tar.FormatUSTAR, Typeflag: tar.TypeReg}
		if f.text == nil {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			return err
		}
		if _, err := w.Write(f.text); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err == nil {
		_, err = z.Write(plain.Bytes())
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		return err
	}
	return r.manifest(l, t, plain.Bytes(), packed.Bytes())
}

// constraintFreeRoots returns Mozilla's CA certificates that have no constraints.
func constraintFreeRoots() []byte {
	var b bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			_ = pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate})
		}
	}
	return b.Bytes()
}

func (r *release) manifest(l *layout, t target, plain, packed []byte) error {
	sum := sha256.Sum256(plain)
	labels := map[string]string{"org.opencontainers.image.title": "unstall", "org.opencontainers.image.version": r.version, "org.opencontainers.image.licenses": "Apache-2.0",
		"org.opencontainers.image.source": "https://github.com/unstall/unstall", "org.opencontainers.image.description": "finds what makes a service's requests slow"}
	at := r.at.Format(time.RFC3339)
	config, err := l.json(configType, map[string]any{
		"created": at, "architecture": t.arch, "os": t.os,
		"config":  map[string]any{"User": nobody + ":" + nobody, "Entrypoint": []string{"/unstall"}, "WorkingDir": "/tmp", "Env": []string{"PATH=/", "HOME=/tmp"}, "Labels": labels},
		"rootfs":  map[string]any{"type": "layers", "diff_ids": []string{"sha256:" + hex.EncodeToString(sum[:])}},
		"history": []any{map[string]any{"created": at, "created_by": "unstall/dev/release"}},
	})
	if err != nil {
		return err
	}
	m, err := l.json(manifestType, map[string]any{"schemaVersion": 2, "mediaType": manifestType, "config": config, "layers": []descriptor{l.blob(layerType, packed)}, "annotations": labels})
	m.Platform = &platform{t.arch, t.os}
	l.manifests = append(l.manifests, m)
	return err
}

// writeImage writes the image of all architectures.
func (r *release) writeImage(l *layout) error {
	index, err := l.json(indexType, map[string]any{"schemaVersion": 2, "mediaType": indexType, "manifests": l.manifests})
	if err != nil {
		return err
	}
	index.Annotations = map[string]string{"org.opencontainers.image.ref.name": r.version, "io.containerd.image.name": "docker.io/unstall/unstall:" + r.version}
	top, err := json.Marshal(map[string]any{"schemaVersion": 2, "mediaType": indexType, "manifests": []descriptor{index}})
	if err != nil {
		return err
	}
	files := map[string][]byte{"oci-layout": []byte(`{"imageLayoutVersion":"1.0.0"}`), "index.json": top}
	for digest, text := range l.blobs {
		files["blobs/sha256/"+digest[len("sha256:"):]] = text
	}
	var names []string
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	name := fmt.Sprintf("unstall-%s-image.tar", r.version)
	f, err := os.Create(filepath.Join(r.out, name))
	if err != nil {
		return err
	}
	defer f.Close()
	w := tar.NewWriter(f)
	for _, name := range names {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(files[name])), ModTime: r.at, Format: tar.FormatUSTAR}); err != nil {
			return err
		}
		if _, err := w.Write(files[name]); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	r.files = append(r.files, name)
	return f.Close()
}
