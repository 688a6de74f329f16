package main

import (
	"net/http"
	"sync"
)

// Sizes of an item as it is decoded: each of its parts has a memory block of its own and fills
// a run of pages here and there in it, like the rows of a picture.
const (
	parts     = 4
	block     = 12 << 20
	row       = 48 << 10
	rowsApart = 256 << 10
)

// blocks maps fresh memory for each request and returns it to the kernel, as an allocator does with
// large blocks.
func blocks(options) (http.HandlerFunc, error) {
	return func(w http.ResponseWriter, r *http.Request) {
		var all sync.WaitGroup
		failed := make([]error, parts)
		for i := 0; i < parts; i++ {
			all.Add(1)
			go func() {
				defer all.Done()
				failed[i] = withBlock(block, decode)
			}()
		}
		all.Wait()
		for _, err := range failed {
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
		}
		_, _ = w.Write([]byte("decoded\n"))
	}, nil
}

// decode fills rows.
//
//go:noinline
func decode(b []byte) {
	for at := 0; at+row <= len(b); at += rowsApart {
		for i := at; i < at+row; i += 64 {
			b[i] = byte(i >> 6)
		}
	}
}
