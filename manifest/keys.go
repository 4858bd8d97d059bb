package manifest

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"
	"time"
)

// The keys of a generation begin with a letter for the family. Numbers are
// big-endian, so that keys sort as they do; ^ is the number's complement, so that the newest comes
// first. An empty value means that a newer fold took the key away.
const (
	keyMeta       = 'm' //                       → how far the log is folded in
	keyCheckpoint = 'k' // seq                   → present record
	keyID         = 'i' // checkpoint id         → seq; stays when the checkpoint is deleted
	keyName       = 'n' // name                  → seq
	keyTime       = 't' // ^time ^seq            → 1
	keyOfSession  = 's' // session ^seq          → 1
	keyOperation  = 'o' // ^seq                  → record
	keySession    = 'e' // agent session         → seq, record
	keyBinding    = 'd' // session entry         → seq, record of this entry alone
	keyTouch      = 'h' // seq                   → record
	keyTouched    = 'w' // path seq              → 1
	keyBucket     = 'b' // bucket number         → codes of the index
	keyChanges    = 'c' // seq [path]            → header of the set [old and new entry]
	keyUnfolded   = 'u' // seq                   → 1: its set of changes could not be made
	keyHistory    = 'p' // path 0 0 ^seq         → 1
)

func appendSeq(dst []byte, seq uint64) []byte { return binary.BigEndian.AppendUint64(dst, seq) }

func appendNewest(dst []byte, seq uint64) []byte { return appendSeq(dst, ^seq) }

func seqKey(family byte, seq uint64) []byte { return appendSeq([]byte{family}, seq) }

func idKey(id CheckpointID) []byte { return append([]byte{keyID}, id[:]...) }

// appendExact appends text that is only ever looked up whole. Long text is its hash.
func appendExact(dst []byte, s string) []byte {
	const longest = 100
	if len(s) > longest {
		sum := sha256.Sum256([]byte(s))
		return append(append(dst, 0xFF), sum[:]...)
	}
	return append(append(dst, byte(len(s))), s...)
}

func nameKey(name string) []byte { return appendExact([]byte{keyName}, name) }

func timeKey(t time.Time, seq uint64) []byte {
	// The sign bit is flipped so that times before 1970 sort first.
	return appendNewest(appendNewest([]byte{keyTime}, uint64(nanos(t))^1<<63), seq)
}

func ofSessionKey(session string) []byte { return appendExact([]byte{keyOfSession}, session) }

func sessionKey(agent, id string) []byte {
	return appendExact(appendExact([]byte{keySession}, agent), id)
}

// bindingsOf are the keys of a session's bindings.
func bindingsOf(session string) []byte { return appendExact([]byte{keyBinding}, session) }

func bindingKey(at boundAt) []byte { return appendExact(bindingsOf(at.session), at.entry) }

// touchedKey begins the keys of a path's touches.
func touchedKey(path string) []byte { return appendExact([]byte{keyTouched}, path) }

// appendPath appends a path so that the order of the bytes is path order: a
// directory, then what is below it, then names that go on after the directory's name.
func appendPath(dst []byte, path string) []byte {
	from := len(dst)
	dst = append(dst, path...)
	for i := from; i < len(dst); i++ {
		if dst[i] == '/' {
			dst[i] = 0
		}
	}
	return dst
}

func pathOf(key []byte) string { return strings.ReplaceAll(string(key), "\x00", "/") }

func historyKey(path string) []byte {
	return append(appendPath([]byte{keyHistory}, path), 0, 0)
}

// newestSeq is the number whose complement is in the last eight bytes of a key.
func newestSeq(key []byte) uint64 { return ^lastSeq(key) }

// lastSeq is the number in the last eight bytes of a key.
func lastSeq(key []byte) uint64 {
	if len(key) < 8 {
		return 0
	}
	return binary.BigEndian.Uint64(key[len(key)-8:])
}
