package screen

import "os"

// resizes never tells: there is no such signal, and every key asks for the size anyway.
func resizes() (<-chan os.Signal, func()) { return nil, func() {} }

func continued(os.Signal) bool { return false }

// suspend does nothing: there is no such thing.
func suspend() {}
