package main

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// removeHostNames removes the recorder's control groups and the name of the host's first process
// from a recording, so that it does not reveal its host.
func removeHostNames(dir string) error {
	files, _ := filepath.Glob(filepath.Join(dir, unpacked+"procfs*")) // the pattern is well-formed
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return err
	}
	first, err := os.ReadFile("/proc/1/comm")
	if err != nil {
		return err
	}
	swap := []string{"(" + strings.TrimSpace(string(first)) + ")", "(init)"}
	for line := range strings.Lines(string(groups)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		for at := path.Clean(parts[2]); at != "/" && at != "."; at = path.Dir(at) {
			swap = append(swap, at+"/", "/session/", at+"\n", "/session\n")
		}
	}
	anew := strings.NewReplacer(swap...)
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		packed := bytes.HasPrefix(b, zstd4)
		if packed {
			d, err := zstd.NewReader(nil)
			if err != nil {
				return err
			}
			if b, err = d.DecodeAll(b, nil); err != nil {
				return err
			}
		}
		b = []byte(anew.Replace(string(b)))
		if packed {
			e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression))
			if err != nil {
				return err
			}
			b = e.EncodeAll(b, nil)
		}
		if err := os.WriteFile(name, b, 0o644); err != nil {
			return err
		}
	}
	return nil
}
