// Package diagnose turns a bundle of evidence into a diagnosis: it aligns the
// clocks, builds the ledger, asks every cause and ranks the answers.
package diagnose
