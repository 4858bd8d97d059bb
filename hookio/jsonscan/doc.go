// Package jsonscan reads JSON piece by piece, so that a value of any size costs a window and the few
// strings that are kept: what agents give to their hooks (Stream), and the lines of their transcripts
// (Lines, Line).
//
// It is for JSON that others write, of any size; what we write ourselves is read by encoding/json.
package jsonscan
