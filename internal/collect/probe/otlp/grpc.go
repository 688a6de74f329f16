package otlp

import (
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
)

// grpcType is what content types of gRPC begin with
// (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md).
const grpcType = "application/grpc"

// Codes of gRPC (https://grpc.io/docs/guides/status-codes/).
const (
	grpcOK            = 0
	grpcInvalid       = 3
	grpcUnimplemented = 12
	grpcUnavailable   = 14 // come again
)

// serveGRPC serves one call: a message with a prefix of five bytes, and a status after the answer.
func (r *Receiver) serveGRPC(w http.ResponseWriter, q *http.Request) {
	end := func(code int, text string) {
		w.Header().Set(http.TrailerPrefix+"Grpc-Status", strconv.Itoa(code))
		if text != "" {
			w.Header().Set(http.TrailerPrefix+"Grpc-Message", url.PathEscape(text))
		}
	}
	w.Header().Set("Content-Type", grpcType)
	w.WriteHeader(http.StatusOK)
	if q.URL.Path != exportPath {
		end(grpcUnimplemented, "unstall takes traces alone")
		return
	}
	if !r.acquireSlot(q.Context()) {
		end(grpcUnavailable, "others are being read: come again")
		return
	}
	defer r.releaseSlot()
	all, err := readMessage(q.Body, q.Header.Get("Grpc-Encoding"))
	if err != nil {
		r.noteMisunderstood(err.Error())
		end(grpcInvalid, "not understood: "+err.Error())
		return
	}
	rejected, err := r.storeBatches(all)
	if err != nil {
		end(grpcUnavailable, "nothing can be stored any more")
		return
	}
	answer := answerProto(rejected)
	head := make([]byte, 5, 5+len(answer))
	binary.BigEndian.PutUint32(head[1:], uint32(len(answer)))
	_, _ = w.Write(append(head, answer...))
	end(grpcOK, "")
}

// readMessage reads the one message of a call.
func readMessage(body io.Reader, encoding string) ([]batch, error) {
	var head [5]byte
	if _, err := io.ReadFull(body, head[:]); err != nil {
		return nil, errors.New("a call without a message")
	}
	n := int64(binary.BigEndian.Uint32(head[1:]))
	if n > maxBody {
		return nil, errLarge
	}
	if head[0] == 0 {
		encoding = ""
	}
	b, err := readBody(io.LimitReader(body, n), encoding)
	if err != nil {
		return nil, err
	}
	if head[0] == 0 && int64(len(b)) < n {
		return nil, io.ErrUnexpectedEOF
	}
	return parseProto(b)
}
