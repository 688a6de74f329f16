// Package parquet writes what unstall says of many captures and files as tables in Apache
// Parquet (https://parquet.apache.org/docs/file-format), for DuckDB, Spark, Trino and others
// to read in place: runs, requests, ledger and verdicts. docs/export.md has the schema.
//
// Its opinion: the figures are those of the JSON form, under the same names; unknown is null,
// never 0. A run is there once: a file's name follows from the bytes that its runs were made of, so a
// repeated export replaces the file. A table never has half of a run: parts are closed between
// runs, and appear when they are complete.
package parquet
