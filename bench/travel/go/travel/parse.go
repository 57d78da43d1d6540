package travel

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

var errBad = errors.New("not such JSON")

// scanner reads JSON that has been checked, or that a data set's file holds: it is quick, and refuses what it does not know.
type scanner struct {
	data []byte
	at   int
	// Where unescaped text is put together.
	text []byte
}

func (s *scanner) space() {
	for s.at < len(s.data) {
		switch s.data[s.at] {
		case ' ', '\n', '\r', '\t':
			s.at++
		default:
			return
		}
	}
}

func (s *scanner) peek() byte {
	s.space()
	if s.at < len(s.data) {
		return s.data[s.at]
	}
	return 0
}

func (s *scanner) take(want byte) bool {
	if s.peek() != want {
		return false
	}
	s.at++
	return true
}

// value is one member's value: a number (isText false) or a text; anything else is an error.
type value struct {
	isText bool
	number int64
	text   []byte
}

// object calls with each member of one object.
func (s *scanner) object(member func(name []byte, v value) error) error {
	if !s.take('{') {
		return errBad
	}
	if s.take('}') {
		return nil
	}
	var keep [32]byte
	for {
		name, err := s.string()
		if err != nil {
			return err
		}
		key := append(keep[:0], name...)
		if !s.take(':') {
			return errBad
		}
		v, err := s.value()
		if err != nil && known(key) {
			return err
		}
		if err == nil {
			if err = member(key, v); err != nil {
				return err
			}
		}
		if s.take(',') {
			continue
		}
		if s.take('}') {
			return nil
		}
		return errBad
	}
}

func known(name []byte) bool {
	switch string(name) {
	case "id", "email", "first_name", "last_name", "gender", "birth_date", "place", "country", "city", "distance", "location", "user", "visited_at", "mark":
		return true
	}
	return false
}

// value reads a number or a text; anything else is passed over and is an error.
func (s *scanner) value() (value, error) {
	switch c := s.peek(); {
	case c == '"':
		text, err := s.string()
		return value{isText: true, text: text}, err
	case c == '-' || c >= '0' && c <= '9':
		return s.integer()
	default:
		return value{}, s.pass()
	}
}

func (s *scanner) integer() (value, error) {
	from, number := s.at, int64(0)
	negative := s.data[s.at] == '-'
	if negative {
		s.at++
	}
	digits := s.at
	for s.at < len(s.data) && s.data[s.at] >= '0' && s.data[s.at] <= '9' {
		number = number*10 + int64(s.data[s.at]-'0')
		s.at++
	}
	// Up to 18 digits fit; a fraction or an exponent makes it no integer.
	fits := s.at > digits && s.at-digits <= 18
	for s.at < len(s.data) {
		switch s.data[s.at] {
		case '.', 'e', 'E', '+', '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			fits = false
			s.at++
			continue
		}
		break
	}
	if !fits {
		return value{}, fmt.Errorf("%q is no integer of 64 bits", s.data[from:s.at])
	}
	if negative {
		number = -number
	}
	return value{number: number}, nil
}

// pass goes over null, true, false, an array or an object, of any depth; none of them is a value here.
func (s *scanner) pass() error {
	depth := 0
	for s.at < len(s.data) {
		switch c := s.data[s.at]; c {
		case '"':
			if _, err := s.string(); err != nil {
				return err
			}
			continue
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case ',':
			if depth == 0 {
				return errBad
			}
		}
		if depth < 0 {
			return errBad
		}
		s.at++
	}
	return errBad
}

// string gives a text that is good until the next one is read.
func (s *scanner) string() ([]byte, error) {
	if !s.take('"') {
		return nil, errBad
	}
	from := s.at
	for s.at < len(s.data) && s.data[s.at] != '"' && s.data[s.at] != '\\' {
		s.at++
	}
	if s.at < len(s.data) && s.data[s.at] == '"' {
		s.at++
		return s.data[from : s.at-1], nil
	}
	s.text = append(s.text[:0], s.data[from:s.at]...)
	for s.at < len(s.data) {
		c := s.data[s.at]
		s.at++
		switch c {
		case '"':
			return s.text, nil
		case '\\':
			if err := s.escape(); err != nil {
				return nil, err
			}
		default:
			s.text = append(s.text, c)
		}
	}
	return nil, errBad
}

func (s *scanner) escape() error {
	if s.at == len(s.data) {
		return errBad
	}
	c := s.data[s.at]
	s.at++
	switch c {
	case '"', '\\', '/':
		s.text = append(s.text, c)
	case 'b':
		s.text = append(s.text, '\b')
	case 'f':
		s.text = append(s.text, '\f')
	case 'n':
		s.text = append(s.text, '\n')
	case 'r':
		s.text = append(s.text, '\r')
	case 't':
		s.text = append(s.text, '\t')
	case 'u':
		r, err := s.hex()
		if err != nil {
			return err
		}
		if utf16.IsSurrogate(r) {
			if s.at+2 > len(s.data) || s.data[s.at] != '\\' || s.data[s.at+1] != 'u' {
				return errBad
			}
			s.at += 2
			low, err := s.hex()
			if err != nil {
				return err
			}
			if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
				return errBad
			}
		}
		s.text = utf8.AppendRune(s.text, r)
	default:
		return errBad
	}
	return nil
}

func (s *scanner) hex() (rune, error) {
	if s.at+4 > len(s.data) {
		return 0, errBad
	}
	number, err := strconv.ParseUint(string(s.data[s.at:s.at+4]), 16, 32)
	s.at += 4
	return rune(number), err
}

// The fields that a body may have, as bits.
const (
	hasID = 1 << iota
	hasA
	hasB
	hasC
	hasD
	hasE
)

// Fields of a change: what is set is told by bits.
type change struct {
	has      int
	id       uint32
	user     User
	location Location
	visit    Visit
}

// read parses a body: it must be one JSON object, all of it, in UTF-8.
func read(body []byte, member func(name []byte, v value) error) error {
	if !utf8.Valid(body) || !json.Valid(body) {
		return errBad
	}
	s := scanner{data: body}
	if err := s.object(member); err != nil {
		return err
	}
	return nil
}

func (c *change) userField(name []byte, v value) error {
	switch string(name) {
	case "id":
		return c.setID(v)
	case "email":
		return c.setText(&c.user.email, v, 100, hasA)
	case "first_name":
		return c.setText(&c.user.first, v, 50, hasB)
	case "last_name":
		return c.setText(&c.user.last, v, 50, hasC)
	case "gender":
		if !v.isText || len(v.text) != 1 || v.text[0] != 'm' && v.text[0] != 'f' {
			return errBad
		}
		c.user.gender = v.text[0]
		c.has |= hasD
	case "birth_date":
		return c.setTime(&c.user.birth, v, hasE)
	}
	return nil
}

func (c *change) locationField(name []byte, v value) error {
	switch string(name) {
	case "id":
		return c.setID(v)
	case "place":
		return c.setText(&c.location.place, v, math.MaxInt, hasA)
	case "country":
		return c.setText(&c.location.country, v, 50, hasB)
	case "city":
		return c.setText(&c.location.city, v, 50, hasC)
	case "distance":
		return c.setNumber(&c.location.distance, v, hasD)
	}
	return nil
}

func (c *change) visitField(name []byte, v value) error {
	switch string(name) {
	case "id":
		return c.setID(v)
	case "location":
		return c.setNumber(&c.visit.location, v, hasA)
	case "user":
		return c.setNumber(&c.visit.user, v, hasB)
	case "visited_at":
		return c.setTime(&c.visit.at, v, hasC)
	case "mark":
		if v.isText || v.number < 0 || v.number > 5 {
			return errBad
		}
		c.visit.mark = uint8(v.number)
		c.has |= hasD
	}
	return nil
}

func (c *change) setID(v value) error {
	return c.setNumber(&c.id, v, hasID)
}

func (c *change) setText(to *string, v value, longest, bit int) error {
	if !v.isText || len(v.text) > longest && utf8.RuneCount(v.text) > longest {
		return errBad
	}
	*to = string(v.text)
	c.has |= bit
	return nil
}

func (c *change) setNumber(to *uint32, v value, bit int) error {
	if v.isText || v.number < 0 || v.number > math.MaxUint32 {
		return errBad
	}
	*to = uint32(v.number)
	c.has |= bit
	return nil
}

func (c *change) setTime(to *int32, v value, bit int) error {
	if v.isText || v.number < math.MinInt32 || v.number > math.MaxInt32 {
		return errBad
	}
	*to = int32(v.number)
	c.has |= bit
	return nil
}
