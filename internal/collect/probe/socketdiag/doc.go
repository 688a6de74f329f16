// Package socketdiag asks the kernel for the TCP and UNIX sockets of a process's network namespace (sock_diag(7)).
package socketdiag
