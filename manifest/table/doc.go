// Package table is sorted keys and values on disk, in Badger's table format: immutable runs of tables,
// the newest value of a key hiding older ones, and the layout of the directory that holds them.
//
// Writer makes tables, Runs reads them, Layout says which make up a directory and PointerTo which
// directory is current. Damage of any byte is found and is an error, never a wrong value. The
// package knows no meaning of a key.
package table
