// Package travel is the travel service's data and answers, in memory: slices by id, a list of visits for each user and
// each location, one lock over all.
package travel

import (
	"slices"
	"sync"
)

// User is a record without its id.
type User struct {
	email, first, last string
	birth              int32
	gender             byte
	exists             bool
}

// Location is a record without its id.
type Location struct {
	place, country, city string
	distance             uint32
	exists               bool
}

// Visit is a record without its id.
type Visit struct {
	location, user uint32
	at             int32
	mark           uint8
	exists         bool
}

// shelf keeps values by id: an array for ids near those that are there, a map for stray ones.
type shelf[T any] struct {
	near []T
	far  map[uint32]*T
}

// slack is how far beyond the array's end it still grows in place of the map.
const slack = 1 << 20

func (s *shelf[T]) get(id uint32) *T {
	if int(id) < len(s.near) {
		return &s.near[id]
	}
	return s.far[id]
}

func (s *shelf[T]) make(id uint32) *T {
	if found := s.get(id); found != nil {
		return found
	}
	if int(id) < len(s.near)+slack {
		s.near = append(s.near, make([]T, int(id)+1-len(s.near))...)
		for stray, value := range s.far {
			if int(stray) < len(s.near) {
				s.near[stray] = *value
				delete(s.far, stray)
			}
		}
		return &s.near[id]
	}
	if s.far == nil {
		s.far = map[uint32]*T{}
	}
	value := new(T)
	s.far[id] = value
	return value
}

// reserve makes room for the ids up to the greatest one of a load.
func (s *shelf[T]) reserve(greatest uint32) {
	if want := int(greatest) + 1; want > len(s.near) {
		s.near = append(s.near, make([]T, want-len(s.near))...)
	}
}

// Store is everything; its methods may be called at once.
type Store struct {
	lock      sync.RWMutex
	users     shelf[User]
	locations shelf[Location]
	visits    shelf[Visit]
	// Visits by user, ordered by time, then id; by location, without an order.
	ofUser     shelf[[]uint32]
	ofLocation shelf[[]uint32]
	emails     map[string]uint32
	// The time of the data, from options.txt.
	now int64
}

// New is a store without records.
func New(now int64) *Store {
	return &Store{emails: map[string]uint32{}, now: now}
}

// before is the order of a user's visits.
func (s *Store) before(a, b uint32) int {
	left, right := s.visits.get(a), s.visits.get(b)
	if left.at != right.at {
		if left.at < right.at {
			return -1
		}
		return 1
	}
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// list puts a visit on the lists of its user and its location.
func (s *Store) list(id uint32) {
	visit := s.visits.get(id)
	s.listUser(id, visit)
	s.listLocation(id, visit)
}

// unlist takes a visit off both lists, before it changes.
func (s *Store) unlist(id uint32) {
	visit := s.visits.get(id)
	user := s.ofUser.get(visit.user)
	at, _ := slices.BinarySearchFunc(*user, id, s.before)
	*user = slices.Delete(*user, at, at+1)
	location := s.ofLocation.get(visit.location)
	at = slices.Index(*location, id)
	*location = slices.Delete(*location, at, at+1)
}
