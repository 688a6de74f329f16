package format

import (
	"io"
	"io/fs"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// unpacker reads a zstd stream. Closing it leaves its decoder to the next one: a capture has hundreds of small streams, each of which is opened
// twice, and a new decoder takes longer than decoding one.
type unpacker struct{ d *zstd.Decoder }

// mostUnpacked bounds the memory of a decoder, bytes.
const mostUnpacked = 128 << 20

var idleDecoders sync.Pool

func newUnpacker(r io.Reader) (*unpacker, error) {
	if d, ok := idleDecoders.Get().(*zstd.Decoder); ok {
		return &unpacker{d}, d.Reset(r)
	}
	d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(mostUnpacked))
	return &unpacker{d}, err
}

func (u *unpacker) Read(b []byte) (int, error) {
	if u.d == nil {
		return 0, fs.ErrClosed
	}
	return u.d.Read(b)
}

func (u *unpacker) Close() error {
	d := u.d
	u.d = nil
	if d != nil && d.Reset(nil) == nil {
		idleDecoders.Put(d)
	}
	return nil
}
