package pair

import "sync"

// Conns are the open connections of this process.
type Conns[C comparable] struct {
	mutex sync.RWMutex
	open  map[C]struct{}
}

// Add takes a connection in, until what it returns is called.
func (c *Conns[C]) Add(conn C) func() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.open == nil {
		c.open = map[C]struct{}{}
	}
	c.open[conn] = struct{}{}
	return func() {
		c.mutex.Lock()
		defer c.mutex.Unlock()
		delete(c.open, conn)
	}
}

// Each calls the function with every connection.
func (c *Conns[C]) Each(call func(C)) {
	c.mutex.RLock()
	defer c.mutex.RUnlock()
	for conn := range c.open {
		call(conn)
	}
}
