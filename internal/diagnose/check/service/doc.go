// Package service holds the causes that lie in what a service does and depends
// on, whatever its runtime.
package service
