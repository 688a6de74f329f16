// Package tracepoint loads eBPF programs, which its callers assemble, for the kernel's tracepoints. It also finds where the kernel keeps the
// fields they read (BTF). It switches on only those programs, which end with their descriptors.
//
// Sources: bpf(2), https://docs.kernel.org/bpf/btf.html, https://docs.kernel.org/trace/tracepoints.html.
package tracepoint
