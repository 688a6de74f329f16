// Package diagnose turns a bundle of evidence into a diagnosis: it aligns the clocks, builds the ledger, runs every check and ranks the verdicts.
package diagnose
