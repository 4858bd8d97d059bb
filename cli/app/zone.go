package app

import (
	"encoding/binary"
	"strings"
	"time"
)

// unknownZone is the name of a time zone whose rule could not be read.
const unknownZone = "-00"

// PosixZone gives the time zone that a TZ in POSIX form means (CET-1CEST,M3.5.0,M10.5.0/3),
// nil where it is none. Package time reads such rules at the end of zone files, but not in TZ, and takes UTC.
func PosixZone(tz string) *time.Location {
	tz = strings.TrimPrefix(tz, ":")
	if tz == "" || strings.ContainsAny(tz, "\n\x00") || !strings.ContainsAny(tz, "0123456789") {
		return nil
	}
	if _, err := time.LoadLocation(tz); err == nil {
		return nil // a zone file of that name, such as EST5EDT
	}
	// RFC 8536: a file with no transitions, one type and the rule; twice, for the older version comes first.
	var file []byte
	for range 2 {
		file = append(file, "TZif3"...)
		file = append(file, make([]byte, 15)...)
		for _, count := range []uint32{0, 0, 0, 0, 1, uint32(len(unknownZone) + 1)} {
			file = binary.BigEndian.AppendUint32(file, count)
		}
		file = append(file, 0, 0, 0, 0, 0, 0) // UTC, no summer time, the first name
		file = append(file, unknownZone+"\x00"...)
	}
	file = append(file, "\n"+tz+"\n"...)
	zone, err := time.LoadLocationFromTZData("Local", file)
	if err != nil {
		return nil
	}
	if name, _ := time.Now().In(zone).Zone(); name == unknownZone {
		return nil
	}
	return zone
}
