package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"hash/crc32"
	"strings"
)

// scan is the text of a scanned receipt of six pages.
var scan = makeScan(6)

func makeScan(pages int) []byte {
	var text bytes.Buffer
	for n := range pages * 600 {
		fmt.Fprintf(&text, "%06d %s dispensed %d mg against receipt %x\n", n*7919%1000000, strings.Repeat("item ", n%5), n%250, crc32.ChecksumIEEE([]byte{byte(n), byte(n >> 8)}))
	}
	return text.Bytes()
}

type receipt struct {
	ID    int    `json:"id"`
	Bytes int    `json:"bytes"`
	Sum   string `json:"sum"`
}

// checkReceipt packs the scan of a receipt for the archive, which takes some milliseconds of CPU.
func checkReceipt(_ context.Context, request any) (any, error) {
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(w, "receipt %d\n", request)
	if _, err := w.Write(scan); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return receipt{ID: request.(int), Bytes: packed.Len(), Sum: fmt.Sprintf("%08x", crc32.ChecksumIEEE(packed.Bytes()))}, nil
}
