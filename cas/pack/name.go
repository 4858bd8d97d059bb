package pack

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// Kind is what a pack is for.
type Kind uint8

const (
	Log  Kind = 1 // sequenced commits and the objects of small saves
	Data Kind = 2 // the objects of one bulk batch, or what gc kept
)

// Name identifies a pack in its store. It is written into the header and
// goes into the checksum of every record.
type Name struct {
	Kind Kind
	Tag  uint64 // of a log pack: its number, from 1; else random
}

func (n Name) String() string {
	if n.Kind == Log {
		return fmt.Sprintf("log-%08d", n.Tag)
	}
	return fmt.Sprintf("data-%016x", n.Tag)
}

// How the files of packs and of their indexes end.
const (
	Suffix      = ".pack"
	IndexSuffix = ".idx"
)

// File is the name of the pack's file in the objects directory and in the mirror.
func (n Name) File() string { return n.String() + Suffix }

// IndexFile is the name of the file of its index, in the objects directory only.
func (n Name) IndexFile() string { return n.String() + IndexSuffix }

// ParseName reads the name of a pack's file. Only names as String writes
// them are packs.
func ParseName(file string) (Name, bool) {
	stem, ok := strings.CutSuffix(file, Suffix)
	if !ok {
		return Name{}, false
	}
	var n Name
	var err error
	if digits, ok := strings.CutPrefix(stem, "log-"); ok {
		n.Kind = Log
		n.Tag, err = strconv.ParseUint(digits, 10, 32)
	} else if digits, ok := strings.CutPrefix(stem, "data-"); ok {
		n.Kind = Data
		n.Tag, err = strconv.ParseUint(digits, 16, 64)
	} else {
		return Name{}, false
	}
	if err != nil || n.File() != file || n.Kind == Log && n.Tag == 0 {
		return Name{}, false
	}
	return n, true
}

// ParseIndexName reads the name of the file of a pack's index.
func ParseIndexName(file string) (Name, bool) {
	stem, ok := strings.CutSuffix(file, IndexSuffix)
	if !ok {
		return Name{}, false
	}
	return ParseName(stem + Suffix)
}

// Seed is what the checksums of the pack's records start from, apart from
// their offsets. A record is good at its own place only, so that the bytes of
// a pack that somebody stored as an object are never taken for records.
func (n Name) Seed(store [16]byte) uint64 {
	b := append(store[:], byte(n.Kind))
	return xxhash.Sum64(binary.LittleEndian.AppendUint64(b, n.Tag))
}
