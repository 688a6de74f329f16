// Package tracepoint loads eBPF programs, assembled by who asks, for the kernel's tracepoints, and finds where the
// kernel keeps what they read (BTF). It switches on nothing but those programs, which end with their descriptors.
//
// Sources: bpf(2), https://docs.kernel.org/bpf/btf.html, https://docs.kernel.org/trace/tracepoints.html.
package tracepoint
