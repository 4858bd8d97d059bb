package gitprogram

import "fmt"

// FileHeader is what git hashes before the content of a file of size bytes, for its id.
func FileHeader(size uint64) string { return fmt.Sprintf("%s %d\x00", "blob", size) }
