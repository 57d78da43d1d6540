package travel

const all = hasA | hasB | hasC | hasD | hasE

// post changes a record or makes one. Nothing is changed unless the whole body is right.
func (s *Store) post(out []byte, kind string, word, body []byte) (int, []byte) {
	if kind != "users" && kind != "locations" && kind != "visits" {
		return notFound, out
	}
	fresh := string(word) == "new"
	id, valid := parseID(word)
	if !fresh && !valid {
		return notFound, out
	}
	var c change
	broken := read(body, c.member(kind)) != nil
	s.lock.Lock()
	defer s.lock.Unlock()
	if !fresh && !s.exists(kind, id) {
		return notFound, out
	}
	if broken || fresh != (c.has&hasID != 0) {
		return badRequest, out
	}
	if fresh {
		id = c.id
		if s.exists(kind, id) || !c.complete(kind) {
			return badRequest, out
		}
	}
	if !s.apply(kind, id, &c) {
		return badRequest, out
	}
	return ok, append(out, '{', '}')
}

func (s *Store) exists(kind string, id uint32) bool {
	switch kind {
	case "users":
		user := s.users.get(id)
		return user != nil && user.exists
	case "locations":
		location := s.locations.get(id)
		return location != nil && location.exists
	}
	visit := s.visits.get(id)
	return visit != nil && visit.exists
}

func (c *change) complete(kind string) bool {
	if kind == "users" {
		return c.has&all == all
	}
	return c.has&all == all&^hasE
}

func (s *Store) apply(kind string, id uint32, c *change) bool {
	switch kind {
	case "users":
		return s.applyUser(id, c)
	case "locations":
		s.applyLocation(id, c)
	default:
		s.applyVisit(id, c)
	}
	return true
}

// applyUser is false where somebody else has the address.
func (s *Store) applyUser(id uint32, c *change) bool {
	if c.has&hasA != 0 {
		if owner, taken := s.emails[c.user.email]; taken && owner != id {
			return false
		}
	}
	user := s.users.make(id)
	user.exists = true
	if c.has&hasA != 0 {
		delete(s.emails, user.email)
		s.emails[c.user.email] = id
		user.email = c.user.email
	}
	if c.has&hasB != 0 {
		user.first = c.user.first
	}
	if c.has&hasC != 0 {
		user.last = c.user.last
	}
	if c.has&hasD != 0 {
		user.gender = c.user.gender
	}
	if c.has&hasE != 0 {
		user.birth = c.user.birth
	}
	return true
}

func (s *Store) applyLocation(id uint32, c *change) {
	location := s.locations.make(id)
	location.exists = true
	if c.has&hasA != 0 {
		location.place = c.location.place
	}
	if c.has&hasB != 0 {
		location.country = c.location.country
	}
	if c.has&hasC != 0 {
		location.city = c.location.city
	}
	if c.has&hasD != 0 {
		location.distance = c.location.distance
	}
}

func (s *Store) applyVisit(id uint32, c *change) {
	visit := s.visits.make(id)
	listed := c.has&(hasA|hasB|hasC) != 0
	if visit.exists && listed {
		s.unlist(id)
	}
	visit.exists = true
	if c.has&hasA != 0 {
		visit.location = c.visit.location
	}
	if c.has&hasB != 0 {
		visit.user = c.visit.user
	}
	if c.has&hasC != 0 {
		visit.at = c.visit.at
	}
	if c.has&hasD != 0 {
		visit.mark = c.visit.mark
	}
	if listed {
		s.list(id)
	}
}
