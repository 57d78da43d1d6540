package travel

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
)

// batch is what one file holds.
type batch struct {
	kind    string
	changes []change
	visits  []idVisit
}

type idVisit struct {
	id uint32
	Visit
}

// words keeps one copy of each name: people and towns share theirs.
type words struct {
	lock sync.Mutex
	all  map[string]string
}

func (w *words) one(text string) string {
	w.lock.Lock()
	defer w.lock.Unlock()
	if kept, found := w.all[text]; found {
		return kept
	}
	w.all[text] = text
	return text
}

// Load reads options.txt and all files of a directory, several at once, and makes the lists.
func Load(directory string) (*Store, error) {
	options, err := os.ReadFile(filepath.Join(directory, "options.txt"))
	if err != nil {
		return nil, err
	}
	now, err := strconv.ParseInt(string(bytes.TrimSpace(bytes.SplitN(options, []byte("\n"), 2)[0])), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("options.txt: %w", err)
	}
	store := New(now)
	for _, kind := range []string{"users", "locations", "visits"} {
		if err := store.loadKind(directory, kind); err != nil {
			return nil, err
		}
	}
	store.makeLists()
	return store, nil
}

func (s *Store) loadKind(directory, kind string) error {
	files, err := filepath.Glob(filepath.Join(directory, kind+"_*.json"))
	if err != nil {
		return err
	}
	names := &words{all: map[string]string{}}
	todo, failed := make(chan string), make(chan error, runtime.NumCPU())
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for path := range todo {
				if err := s.loadFile(path, kind, names); err != nil {
					select {
					case failed <- fmt.Errorf("%s: %w", path, err):
					default:
					}
				}
			}
		})
	}
	for _, path := range files {
		todo <- path
	}
	close(todo)
	group.Wait()
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

func (s *Store) loadFile(path, kind string, names *words) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	found := batch{kind: kind}
	in := scanner{data: data}
	if !in.take('{') {
		return errBad
	}
	if name, err := in.string(); err != nil || string(name) != kind || !in.take(':') || !in.take('[') {
		return errBad
	}
	for in.peek() == '{' {
		var c change
		if err := in.object(c.member(kind)); err != nil {
			return fmt.Errorf("near byte %d: %w", in.at, err)
		}
		found.keep(c, names)
		in.take(',')
	}
	if !in.take(']') {
		return fmt.Errorf("near byte %d: %w", in.at, errBad)
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	s.store(found)
	return nil
}

func (c *change) member(kind string) func([]byte, value) error {
	switch kind {
	case "users":
		return c.userField
	case "locations":
		return c.locationField
	}
	return c.visitField
}

func (b *batch) keep(c change, names *words) {
	switch b.kind {
	case "users":
		c.user.first, c.user.last = names.one(c.user.first), names.one(c.user.last)
	case "locations":
		c.location.place, c.location.country, c.location.city = names.one(c.location.place), names.one(c.location.country), names.one(c.location.city)
	default:
		b.visits = append(b.visits, idVisit{c.id, c.visit})
		return
	}
	b.changes = append(b.changes, c)
}

func (s *Store) store(b batch) {
	for _, c := range b.changes {
		if b.kind == "users" {
			c.user.exists = true
			*s.users.make(c.id) = c.user
			s.emails[c.user.email] = c.id
		} else {
			c.location.exists = true
			*s.locations.make(c.id) = c.location
		}
	}
	if len(b.visits) == 0 {
		return
	}
	greatest := slices.MaxFunc(b.visits, func(a, b idVisit) int { return cmp.Compare(a.id, b.id) }).id
	if int(greatest) < len(s.visits.near)+64*slack {
		s.visits.reserve(greatest)
	}
	for _, visit := range b.visits {
		visit.exists = true
		*s.visits.make(visit.id) = visit.Visit
	}
}

// makeLists counts first, so that all lists of a kind lie in one array.
func (s *Store) makeLists() {
	s.ofUser.near = s.group(len(s.users.near), func(v *Visit) uint32 { return v.user })
	s.ofLocation.near = s.group(len(s.locations.near), func(v *Visit) uint32 { return v.location })
	for _, list := range s.ofUser.near {
		slices.SortFunc(list, s.before)
	}
	// What the arrays of ids do not reach.
	for id := range s.visits.near {
		s.listStray(uint32(id), &s.visits.near[id])
	}
	for id := range s.visits.far {
		s.list(id)
	}
	runtime.GC()
}

func (s *Store) group(count int, of func(*Visit) uint32) [][]uint32 {
	ends := make([]int, count+1)
	for id := range s.visits.near {
		if v := &s.visits.near[id]; v.exists && int(of(v)) < count {
			ends[of(v)+1]++
		}
	}
	for i := range count {
		ends[i+1] += ends[i]
	}
	all := make([]uint32, ends[count])
	lists := make([][]uint32, count)
	for i := range lists {
		lists[i] = all[ends[i]:ends[i]:ends[i+1]]
	}
	for id := range s.visits.near {
		if v := &s.visits.near[id]; v.exists && int(of(v)) < count {
			lists[of(v)] = append(lists[of(v)], uint32(id))
		}
	}
	return lists
}

func (s *Store) listStray(id uint32, visit *Visit) {
	if !visit.exists {
		return
	}
	if int(visit.user) >= len(s.users.near) {
		s.listUser(id, visit)
	}
	if int(visit.location) >= len(s.locations.near) {
		s.listLocation(id, visit)
	}
}

func (s *Store) listUser(id uint32, visit *Visit) {
	list := s.ofUser.make(visit.user)
	at, _ := slices.BinarySearchFunc(*list, id, s.before)
	*list = slices.Insert(*list, at, id)
}

func (s *Store) listLocation(id uint32, visit *Visit) {
	list := s.ofLocation.make(visit.location)
	*list = append(*list, id)
}
