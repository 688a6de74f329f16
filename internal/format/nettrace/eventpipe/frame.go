package eventpipe

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// kind is the content of a block, numbered as in version 6.
type kind uint8

const (
	endOfStream kind = iota
	traceBlock
	eventBlock
	metadataBlock
	sequencePoint
	stackBlock
	threadBlock
	removeThread
	labelList
)

// kinds are the names blocks have in versions 4 and 5, and for messages.
var kinds = [...]string{
	endOfStream: "EndOfStream", traceBlock: "Trace", eventBlock: "EventBlock", metadataBlock: "MetadataBlock",
	sequencePoint: "SPBlock", stackBlock: "StackBlock", threadBlock: "ThreadBlock", removeThread: "RemoveThreadBlock", labelList: "LabelListBlock",
}

func (k kind) String() string {
	if int(k) < len(kinds) {
		return kinds[k]
	}
	return fmt.Sprintf("block of kind %d", uint8(k))
}

// kindNamed returns the kind of a block before version 6, endOfStream for an unknown
// name.
func kindNamed(name []byte) kind {
	for k := traceBlock; k <= stackBlock; k++ {
		if kinds[k] == string(name) {
			return k
		}
	}
	return endOfStream
}

// Tags around objects before version 6.
const (
	nullReference      = 1
	beginObject        = 4 // netperf's
	beginPrivateObject = 5
	endObject          = 6
)

const (
	magic         = "Nettrace"
	serialization = "!FastSerialization.1"
)

func (r *Reader) readHeader() error {
	var first [12]byte
	if n, err := io.ReadFull(r.in.in, first[:]); err != nil {
		r.in.offset = int64(n)
		if n == 0 || magic[:min(n, 8)] != string(first[:min(n, 8)]) {
			return fmt.Errorf("eventpipe: %w", ErrNotNettrace)
		}
		return r.cutError("its header", toUnexpectedEOF(err))
	}
	r.in.offset = int64(len(first))
	size := binary.LittleEndian.Uint32(first[8:])
	switch {
	case string(first[:8]) != magic && binary.LittleEndian.Uint32(first[:]) == uint32(len(serialization)) && string(first[4:]) == serialization[:8]:
		return r.refuseNetperf()
	case string(first[:8]) != magic:
		return fmt.Errorf("eventpipe: %w", ErrNotNettrace)
	case size == 0:
		return r.readHeader6()
	case size == uint32(len(serialization)):
		return r.readHeader4()
	}
	return fmt.Errorf("eventpipe: %w", ErrNotNettrace)
}

// refuseNetperf returns the error for a stream of versions 1 to 3, which names its version.
func (r *Reader) refuseNetperf() error {
	said := ""
	if r.in.skipBytes(int64(len(serialization)-8)) == nil {
		if o, err := r.readObject(beginObject); err == nil && o.version > 0 && o.version < 4 {
			said = fmt.Sprintf(" version %d", o.version)
		}
	}
	return fmt.Errorf("eventpipe: a netperf%s stream, as .NET Core 2 and previews of 3.0 wrote them: %w; record again with dotnet-trace, format nettrace", said, ErrVersion)
}

func (r *Reader) readHeader4() error {
	rest := make([]byte, len(serialization))
	if err := r.in.readFull(rest); err != nil {
		return r.cutError("its header", err)
	}
	if string(rest) != serialization {
		return fmt.Errorf("eventpipe: %w", ErrNotNettrace)
	}
	o, err := r.readObject(beginPrivateObject)
	if err != nil {
		return r.cutError("its header", err)
	}
	if kindNamed(o.name) != traceBlock {
		return r.cutError("its header", fmt.Errorf("the first object is a %q, not a Trace", o.name))
	}
	if o.least < 4 || o.least > 5 {
		return fmt.Errorf("eventpipe: a nettrace stream of version %d that asks for a reader of version %d: %w", o.version, o.least, ErrVersion)
	}
	r.head.Major = int(o.version)
	data := make([]byte, traceSize)
	if err := r.in.readFull(data); err != nil {
		return r.cutError("its header", err)
	}
	if err := r.decodeTrace4(data); err != nil {
		return r.cutError("its header", err)
	}
	if err := r.expectTag(endObject); err != nil {
		return r.cutError("its header", err)
	}
	r.frame = r.readFrame4
	return nil
}

func (r *Reader) readHeader6() error {
	var versions [8]byte
	if err := r.in.readFull(versions[:]); err != nil {
		return r.cutError("its header", err)
	}
	r.head.Major = int(binary.LittleEndian.Uint32(versions[:]))
	if r.head.Major != 6 {
		return fmt.Errorf("eventpipe: a nettrace stream of version %d: %w", uint32(r.head.Major), ErrVersion)
	}
	word, err := r.in.readU32()
	if err != nil {
		return r.cutError("its header", err)
	}
	if kind(word>>24) != traceBlock {
		return r.cutError("its header", fmt.Errorf("the first block is a %v, not a Trace", kind(word>>24)))
	}
	data, err := r.in.readContent(nil, int(word&0xffffff))
	if err != nil {
		return r.cutError("its header", err)
	}
	if err := r.decodeTrace6(data); err != nil {
		return r.cutError("its header", err)
	}
	r.decoder.v6 = true
	r.frame = r.readFrame6
	return nil
}

// readFrame6 reads a block of version 6.
func (r *Reader) readFrame6() error {
	word, err := r.in.readU32()
	if err != nil {
		return r.cutError("the stream between two blocks", err)
	}
	k := kind(word >> 24)
	if k == endOfStream {
		return io.EOF
	}
	return r.readBlock(k, int(word&0xffffff))
}

// object is the beginning of an object before version 6.
type object struct {
	version, least int32
	name           []byte // valid until the next is read
}

// maxName bounds the length of a type name. The longest known has 38 bytes.
const maxName = 256

func (r *Reader) readObject(begin byte) (o object, err error) {
	for _, t := range [...]byte{begin, begin, nullReference} {
		if err := r.expectTag(t); err != nil {
			return o, err
		}
	}
	words := r.scratch[:12]
	if err := r.in.readFull(words); err != nil {
		return o, err
	}
	o.version = int32(binary.LittleEndian.Uint32(words))
	o.least = int32(binary.LittleEndian.Uint32(words[4:]))
	size := binary.LittleEndian.Uint32(words[8:])
	if size > maxName {
		return o, fmt.Errorf("an object with a type name of %d bytes", size)
	}
	o.name = r.scratch[:size]
	if err := r.in.readFull(o.name); err != nil {
		return o, err
	}
	return o, r.expectTag(endObject)
}

func (r *Reader) expectTag(want byte) error {
	got, err := r.in.readU8()
	if err == nil && got != want {
		err = fmt.Errorf("byte %#02x where %#02x should be", got, want)
	}
	return err
}

// readFrame4 reads an object of versions 4 and 5.
func (r *Reader) readFrame4() error {
	const between = "the stream between two objects"
	next, err := r.in.in.Peek(1)
	if err != nil {
		return r.cutError(between, toUnexpectedEOF(err))
	}
	if next[0] == nullReference {
		_ = r.in.skipBytes(1) // it was peeked at
		return io.EOF
	}
	o, err := r.readObject(beginPrivateObject)
	if err != nil {
		return r.cutError(between, err)
	}
	k := kindNamed(o.name)
	if k == traceBlock {
		r.unknown.Blocks++
		err = r.in.skipBytes(traceSize)
	} else {
		var size uint32
		if size, err = r.in.readU32(); err == nil {
			err = r.in.skipBytes(-r.in.offset & 3)
		}
		if err == nil {
			err = r.readBlock(k, int(size))
		}
	}
	if err == nil {
		err = r.expectTag(endObject)
	}
	if err == nil || errors.As(err, new(*Cut)) {
		return err
	}
	return r.cutError(k.String(), err)
}

// readBlock reads and takes a block's content. From one that breaks off it takes the complete
// part.
func (r *Reader) readBlock(k kind, size int) error {
	if k < eventBlock || k > labelList || size > maxBlock {
		r.unknown.Blocks++
		if err := r.in.skipBytes(int64(size)); err != nil {
			return r.cutError(k.String(), err)
		}
		return nil
	}
	data, err := r.in.readContent(r.takeBuffer(size), size)
	if err != nil && k == sequencePoint {
		return r.cutError(k.String(), err)
	}
	if whole := r.takeBlock(k, data); !whole && err == nil {
		r.unknown.Blocks++
	}
	if k != eventBlock {
		r.keepBuffer(data)
	}
	if err != nil {
		return r.cutError(k.String(), err)
	}
	return nil
}

// takeBlock interprets a block and says whether it was complete.
func (r *Reader) takeBlock(k kind, data []byte) bool {
	switch k {
	case eventBlock:
		return r.beginEvents(data)
	case metadataBlock:
		if r.decoder.v6 {
			return r.decodeMetadata6(data)
		}
		return r.decodeMetadata4(data)
	case stackBlock:
		return r.stacks.addBlock(data, r.head.PointerBytes)
	case sequencePoint:
		return r.sequencePoint(data)
	case threadBlock:
		return r.declareThreads(data)
	case removeThread:
		return r.removeThreads(data)
	case labelList:
		return r.labels.addBlock(data, &r.unknown)
	}
	return true
}

func (r *Reader) cutError(in string, err error) error {
	return &Cut{Offset: r.in.offset, Events: r.delivered, In: in, Err: err}
}
