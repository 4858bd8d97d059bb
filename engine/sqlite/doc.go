// Package sqlite knows the files of a database of SQLite by their names and by how they begin. It opens none.
package sqlite
