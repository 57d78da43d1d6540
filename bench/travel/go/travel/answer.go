package travel

import (
	"bytes"
	"math"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"
)

const (
	ok         = 200
	badRequest = 400
	notFound   = 404
)

// Handle answers one request; the body is appended to out.
func (s *Store) Handle(out []byte, method, path []byte, query *fasthttp.Args, body []byte) (int, []byte) {
	kind, rest, found := bytes.Cut(bytes.TrimPrefix(path, []byte("/")), []byte("/"))
	if !found || len(path) == 0 || path[0] != '/' {
		return notFound, out
	}
	word, what, nested := bytes.Cut(rest, []byte("/"))
	if string(method) == "POST" {
		if nested {
			return notFound, out
		}
		return s.post(out, string(kind), word, body)
	}
	if string(method) != "GET" {
		return notFound, out
	}
	id, valid := parseID(word)
	if !valid {
		return notFound, out
	}
	s.lock.RLock()
	defer s.lock.RUnlock()
	switch {
	case !nested:
		return s.record(out, string(kind), id)
	case string(kind) == "users" && string(what) == "visits":
		return s.userVisits(out, id, query)
	case string(kind) == "locations" && string(what) == "avg":
		return s.average(out, id, query)
	}
	return notFound, out
}

// parseID reads an unsigned number of 32 bits.
func parseID(word []byte) (uint32, bool) {
	if len(word) == 0 || len(word) > 10 {
		return 0, false
	}
	number := uint64(0)
	for _, c := range word {
		if c < '0' || c > '9' {
			return 0, false
		}
		number = number*10 + uint64(c-'0')
	}
	return uint32(number), number <= math.MaxUint32
}

func (s *Store) record(out []byte, kind string, id uint32) (int, []byte) {
	switch kind {
	case "users":
		if user := s.users.get(id); user != nil && user.exists {
			return ok, user.append(out, id)
		}
	case "locations":
		if location := s.locations.get(id); location != nil && location.exists {
			return ok, location.append(out, id)
		}
	case "visits":
		if visit := s.visits.get(id); visit != nil && visit.exists {
			return ok, visit.append(out, id)
		}
	}
	return notFound, out
}

func (u *User) append(out []byte, id uint32) []byte {
	out = appendText(appendNumber(append(out, `{"id":`...), int64(id)), "email", u.email)
	out = appendText(appendText(out, "first_name", u.first), "last_name", u.last)
	out = append(append(append(out, `,"gender":"`...), u.gender), `","birth_date":`...)
	return append(appendNumber(out, int64(u.birth)), '}')
}

func (l *Location) append(out []byte, id uint32) []byte {
	out = appendText(appendNumber(append(out, `{"id":`...), int64(id)), "place", l.place)
	out = appendText(appendText(out, "country", l.country), "city", l.city)
	return append(appendNumber(append(out, `,"distance":`...), int64(l.distance)), '}')
}

func (v *Visit) append(out []byte, id uint32) []byte {
	out = appendNumber(append(out, `{"id":`...), int64(id))
	out = appendNumber(append(out, `,"location":`...), int64(v.location))
	out = appendNumber(append(out, `,"user":`...), int64(v.user))
	out = appendNumber(append(out, `,"visited_at":`...), int64(v.at))
	return append(appendNumber(append(out, `,"mark":`...), int64(v.mark)), '}')
}

func appendNumber(out []byte, number int64) []byte {
	return strconv.AppendInt(out, number, 10)
}

func appendText(out []byte, name, text string) []byte {
	return append(appendEscaped(append(append(append(out, ',', '"'), name...), `":"`...), text), '"')
}

func appendEscaped(out []byte, text string) []byte {
	const hex = "0123456789abcdef"
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			out = append(out, '\\', c)
		case c < 0x20:
			out = append(out, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			out = append(out, c)
		}
	}
	return out
}

// filter is a query's conditions.
type filter struct {
	after, until  int64
	country       []byte
	near          int64
	bornBefore    int64
	bornAfter     int64
	gender        byte
	byUser, valid bool
}

func (s *Store) filter(query *fasthttp.Args, ofUser bool) filter {
	f := filter{after: math.MinInt64, until: math.MaxInt64, near: math.MaxInt64, bornBefore: math.MaxInt64, bornAfter: math.MinInt64, valid: true}
	number := func(text []byte, to *int64) {
		n, fine := parseNumber(text)
		*to, f.valid = n, f.valid && fine
	}
	for key, text := range query.All() {
		age := int64(0)
		switch name := string(key); {
		case name == "fromDate":
			number(text, &f.after)
		case name == "toDate":
			number(text, &f.until)
		case name == "country" && ofUser:
			f.country, f.valid = text, f.valid && len(text) > 0
		case name == "toDistance" && ofUser:
			number(text, &f.near)
		case name == "fromAge" && !ofUser:
			number(text, &age)
			f.bornBefore, f.byUser = s.yearsAgo(age), true
		case name == "toAge" && !ofUser:
			number(text, &age)
			f.bornAfter, f.byUser = s.yearsAgo(age), true
		case name == "gender" && !ofUser:
			if len(text) != 1 || text[0] != 'm' && text[0] != 'f' {
				f.valid = false
				continue
			}
			f.gender, f.byUser = text[0], true
		}
	}
	return f
}

// parseNumber reads digits with an optional minus; what 64 bits do not hold becomes their end.
func parseNumber(text []byte) (int64, bool) {
	digits := bytes.TrimPrefix(text, []byte("-"))
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
	}
	number, _ := strconv.ParseInt(string(text), 10, 64)
	return number, len(digits) > 0
}

// yearsAgo counts by the calendar; the 29th of February becomes the 1st of March where there is none.
func (s *Store) yearsAgo(years int64) int64 {
	years = min(max(years, -100_000), 100_000)
	return time.Unix(s.now, 0).UTC().AddDate(-int(years), 0, 0).Unix()
}

func (s *Store) userVisits(out []byte, id uint32, query *fasthttp.Args) (int, []byte) {
	if user := s.users.get(id); user == nil || !user.exists {
		return notFound, out
	}
	f := s.filter(query, true)
	if !f.valid {
		return badRequest, out
	}
	out = append(out, `{"visits":[`...)
	empty := len(out)
	if list := s.ofUser.get(id); list != nil {
		for _, one := range *list {
			visit := s.visits.get(one)
			at := int64(visit.at)
			if at <= f.after {
				continue
			}
			if at >= f.until {
				break
			}
			location := s.locations.get(visit.location)
			if location == nil || !location.exists || int64(location.distance) >= f.near || f.country != nil && location.country != string(f.country) {
				continue
			}
			if len(out) > empty {
				out = append(out, ',')
			}
			out = appendNumber(append(out, `{"mark":`...), int64(visit.mark))
			out = appendText(appendNumber(append(out, `,"visited_at":`...), at), "place", location.place)
			out = append(out, '}')
		}
	}
	return ok, append(out, ']', '}')
}

func (s *Store) average(out []byte, id uint32, query *fasthttp.Args) (int, []byte) {
	if location := s.locations.get(id); location == nil || !location.exists {
		return notFound, out
	}
	f := s.filter(query, false)
	if !f.valid {
		return badRequest, out
	}
	sum, count := int64(0), int64(0)
	if list := s.ofLocation.get(id); list != nil {
		for _, one := range *list {
			visit := s.visits.get(one)
			if at := int64(visit.at); at <= f.after || at >= f.until || f.byUser && !s.matches(visit.user, &f) {
				continue
			}
			sum += int64(visit.mark)
			count++
		}
	}
	return ok, append(appendMean(append(out, `{"avg":`...), sum, count), '}')
}

func (s *Store) matches(id uint32, f *filter) bool {
	user := s.users.get(id)
	if user == nil || !user.exists || f.gender != 0 && user.gender != f.gender {
		return false
	}
	born := int64(user.birth)
	return born < f.bornBefore && born > f.bornAfter
}

// appendMean writes sum / count with five decimals, half up; integers keep it exact.
func appendMean(out []byte, sum, count int64) []byte {
	const unit = 100_000
	if count == 0 {
		return append(out, "0.0"...)
	}
	parts := (sum*unit*2 + count) / (2 * count)
	out = append(appendNumber(out, parts/unit), '.')
	fraction := strconv.AppendInt(nil, unit+parts%unit, 10)[1:]
	for len(fraction) > 1 && fraction[len(fraction)-1] == '0' {
		fraction = fraction[:len(fraction)-1]
	}
	return append(out, fraction...)
}
