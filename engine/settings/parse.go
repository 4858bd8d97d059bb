package settings

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"
)

// allowed says what a value may be, for people: `"none", "small" or "all"`.
func (k *Key) allowed() string {
	switch k.kind {
	case kindFlag:
		return "true or false"
	case kindWord:
		quoted := make([]string, len(k.Choices))
		for i, c := range k.Choices {
			quoted[i] = strconv.Quote(c)
		}
		last := len(quoted) - 1
		return strings.Join(quoted[:last], ", ") + " or " + quoted[last]
	case kindCount:
		return "a whole number from 0 to " + strconv.FormatInt(k.max, 10)
	case kindSize:
		return `a size such as "500MiB" or "10GiB", a number of bytes from 1024 on, or 0`
	default:
		return "a list of strings"
	}
}

// decode turns a JSON value into the key's type; ok is false where it is of
// another type or out of range.
func (k *Key) decode(v hujson.ValueTrimmed) (value any, ok bool) {
	switch k.kind {
	case kindFlag:
		switch v.Kind() {
		case 't':
			return true, true
		case 'f':
			return false, true
		}
	case kindWord:
		if v.Kind() == '"' {
			return k.word(v.(hujson.Literal).String())
		}
	case kindCount:
		if v.Kind() == '0' {
			return wholeNumber(string(v.(hujson.Literal)), k.max)
		}
	case kindSize:
		switch v.Kind() {
		case '0':
			return wholeNumber(string(v.(hujson.Literal)), maxNumber)
		case '"':
			if n, ok := ParseSize(v.(hujson.Literal).String()); ok {
				return n, true
			}
		}
	case kindList:
		if a, isArray := v.(*hujson.Array); isArray {
			list := make([]string, 0, len(a.Elements))
			for _, e := range a.Elements {
				if e.Value.Kind() != '"' {
					return nil, false
				}
				list = append(list, e.Value.(hujson.Literal).String())
			}
			return list, true
		}
	}
	return nil, false
}

func (k *Key) word(s string) (any, bool) { return s, slices.Contains(k.Choices, s) }

func wholeNumber(s string, limit int64) (any, bool) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, n >= 0 && n <= limit
	}
	f, err := strconv.ParseFloat(s, 64) // 1e3 and 30.0 are whole numbers too
	if err != nil || f != math.Trunc(f) || f < 0 || f > float64(limit) {
		return nil, false
	}
	return int64(f), true
}

// encode parses what a person typed into the JSON text to be written.
func (k *Key) encode(text string) (hujson.Literal, bool) {
	text = strings.TrimSpace(text)
	switch k.kind {
	case kindFlag:
		switch strings.ToLower(text) {
		case "true", "on", "yes":
			return hujson.Bool(true), true
		case "false", "off", "no":
			return hujson.Bool(false), true
		}
	case kindWord:
		if _, ok := k.word(text); ok {
			return hujson.String(text), true
		}
	case kindCount:
		if n, ok := wholeNumber(text, k.max); ok {
			return hujson.Int(n.(int64)), true
		}
	case kindSize:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return hujson.Int(n), (n == 0 || n >= 1<<10) && n <= maxNumber // of less, a unit was left out
		}
		if _, ok := ParseSize(text); ok {
			return hujson.String(text), true
		}
	case kindList:
		return encodeList(text)
	}
	return nil, false
}

// encodeList takes a JSON array of strings, or one string per line. A pattern
// such as [Tt]mp starts with a bracket too: only `["` and `[]` mean JSON.
func encodeList(text string) (hujson.Literal, bool) {
	list := []string{}
	if rest, found := strings.CutPrefix(text, "["); found {
		if rest = strings.TrimSpace(rest); strings.HasPrefix(rest, `"`) || rest == "]" {
			if json.Unmarshal([]byte(text), &list) != nil {
				return nil, false
			}
			return joinList(list), true
		}
	}
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimRight(line, "\r"); line != "" {
			list = append(list, line)
		}
	}
	return joinList(list), true
}

func joinList(list []string) hujson.Literal {
	b := []byte{'['}
	for i, s := range list {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(b, hujson.String(s)...)
	}
	return append(b, ']')
}

// ParseSize reads a size: a whole or decimal number with a unit, in bytes. KiB,
// MiB, GiB, TiB and K, M, G, T are powers of 1024; KB, MB, GB, TB powers of
// 1000, in any letter case. ok is false for anything else, and past 2^53.
func ParseSize(s string) (bytes int64, ok bool) {
	s = strings.TrimSpace(s)
	end := 0
	for end < len(s) && (s[end] >= '0' && s[end] <= '9' || s[end] == '.') {
		end++
	}
	unit := 1.0
	switch strings.ToLower(strings.TrimSpace(s[end:])) {
	case "", "b":
	case "k", "kib":
		unit = 1 << 10
	case "m", "mib":
		unit = 1 << 20
	case "g", "gib":
		unit = 1 << 30
	case "t", "tib":
		unit = 1 << 40
	case "kb":
		unit = 1e3
	case "mb":
		unit = 1e6
	case "gb":
		unit = 1e9
	case "tb":
		unit = 1e12
	default:
		return 0, false
	}
	n, err := strconv.ParseFloat(s[:end], 64)
	if err != nil || n*unit > float64(maxNumber) {
		return 0, false
	}
	return int64(n * unit), true
}
