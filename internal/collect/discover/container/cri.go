package container

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// newCRIEngine returns an engine that asks a container runtime by the interface that the kubelet uses. It makes one gRPC call. A
// gRPC call is a POST over HTTP/2 whose bodies are messages. Before each message stand a byte that says whether it is compressed,
// and its length. The status comes in the trailer (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md).
func newCRIEngine(name string, sockets []string) engine {
	return engine{name: name, find: func(ctx context.Context, q Query) ([]Container, error) {
		path := firstSocket(sockets)
		if path == "" {
			return reportAbsent(q, name, sockets)
		}
		answer, err := listContainers(ctx, path)
		if err != nil {
			return nil, explainRefusal(name, path, err)
		}
		all, err := parseContainers(name, answer)
		if err != nil {
			return nil, fmt.Errorf("%s at %s sent a response that is not understood: %w", name, path, err)
		}
		return filterMatching(all, q), nil
	}}
}

var (
	containerdSockets = []string{"/run/k3s/containerd/containerd.sock", "/run/containerd/containerd.sock"}
	crioSockets       = []string{"/run/crio/crio.sock"}
)

// listContainers calls runtime.v1.RuntimeService/ListContainers for running containers.
func listContainers(ctx context.Context, socket string) ([]byte, error) {
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{
		Protocols: protocols,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		},
	}
	defer transport.CloseIdleConnections()
	// ListContainersRequest{filter: 1 {state: 2 {state: 1 = CONTAINER_RUNNING}}}
	running := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 1)
	filter := protowire.AppendBytes(protowire.AppendTag(nil, 2, protowire.BytesType), running)
	message := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), filter)
	body := append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/runtime.v1.RuntimeService/ListContainers", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/grpc")
	request.Header.Set("TE", "trailers")
	response, err := transport.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, mostAnswer))
	if err != nil {
		return nil, err
	}
	status, why := response.Trailer.Get("Grpc-Status"), response.Trailer.Get("Grpc-Message")
	if status == "" { // an answer without a message has its status in the header
		status, why = response.Header.Get("Grpc-Status"), response.Header.Get("Grpc-Message")
	}
	switch {
	case response.StatusCode != http.StatusOK:
		return nil, errors.New(response.Status)
	case status != "0":
		return nil, fmt.Errorf("gRPC status %s: %s", status, why)
	case len(answer) < 5 || answer[0] != 0 || int(binary.BigEndian.Uint32(answer[1:])) != len(answer)-5:
		return nil, errors.New("the answer is not one message")
	}
	return answer[5:], nil
}

// parseContainers reads a ListContainersResponse.
func parseContainers(engine string, message []byte) (all []Container, err error) {
	err = eachBytesField(message, func(number protowire.Number, value []byte) error {
		if number != 1 {
			return nil
		}
		c := Container{Engine: engine}
		labels := map[string]string{}
		err := eachBytesField(value, func(number protowire.Number, value []byte) error {
			switch number {
			case 1:
				c.ID = string(value)
			case 3: // ContainerMetadata
				return decodeTextField(value, 1, &c.Name)
			case 4: // ImageSpec: field 18 is what the user wrote if field 1 is a digest
				if err := decodeTextField(value, 1, &c.Image); err != nil {
					return err
				}
				return decodeTextField(value, 18, &c.Image)
			case 8:
				var key, what string
				if err := errors.Join(decodeTextField(value, 1, &key), decodeTextField(value, 2, &what)); err != nil {
					return err
				}
				labels[key] = what
			}
			return nil
		})
		if err != nil {
			return err
		}
		image := c.Image
		c.fillFromLabels(labels, true)
		if strings.HasPrefix(image, "sha256:") {
			c.Image = image[:min(len(image), len("sha256:")+shortID)]
		}
		all = append(all, c)
		return nil
	})
	return all, err
}

// decodeTextField decodes a text field of a protobuf message into a string. An absent or empty field leaves the string unchanged.
func decodeTextField(message []byte, wanted protowire.Number, into *string) error {
	return eachBytesField(message, func(number protowire.Number, value []byte) error {
		if number == wanted && len(value) > 0 {
			*into = string(value)
		}
		return nil
	})
}

// eachBytesField calls a function with each length-delimited field of a protobuf message. It skips fields of other kinds, which are
// not used here.
func eachBytesField(message []byte, each func(protowire.Number, []byte) error) error {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return protowire.ParseError(n)
		}
		message = message[n:]
		if kind != protowire.BytesType {
			if n = protowire.ConsumeFieldValue(number, kind, message); n < 0 {
				return protowire.ParseError(n)
			}
			message = message[n:]
			continue
		}
		value, n := protowire.ConsumeBytes(message)
		if n < 0 {
			return protowire.ParseError(n)
		}
		if err := each(number, value); err != nil {
			return err
		}
		message = message[n:]
	}
	return nil
}
