package main

import (
	"fmt"
	"net/netip"
	"syscall"
	"time"
	"unsafe"

	"apus-bench/travel/ammo"
)

const (
	patience       = 10 * time.Second
	sweepMillis    = 500
	timerNonblock  = syscall.O_NONBLOCK
	clockMonotonic = 1
)

// ticket is a request and the moment at which it is due, counted from the beginning.
type ticket struct {
	number int
	due    time.Duration
}

// engine sends tickets over a few connections, on the thread that runs it.
type engine struct {
	options
	shots   []*ammo.Shot
	count   int
	peer    syscall.SockaddrInet4
	poll    int
	timer   int
	began   time.Time
	next    int
	busy    int
	conns   map[int]*conn
	idle    []*conn
	waiting []ticket
	outcome outcome
}

func newEngine(o options, shots []*ammo.Shot, count int) (*engine, error) {
	e := &engine{options: o, shots: shots, count: count, conns: map[int]*conn{}}
	e.outcome.failures = map[string]int{}
	address, err := netip.ParseAddrPort(o.address)
	if err != nil || !address.Addr().Is4() {
		return nil, fmt.Errorf("%s is no IPv4 address with a port", o.address)
	}
	e.peer = syscall.SockaddrInet4{Port: int(address.Port()), Addr: address.Addr().As4()}
	if e.poll, err = syscall.EpollCreate1(syscall.EPOLL_CLOEXEC); err != nil {
		return nil, err
	}
	timer, _, number := syscall.RawSyscall(syscall.SYS_TIMERFD_CREATE, clockMonotonic, timerNonblock, 0)
	if number != 0 {
		return nil, number
	}
	e.timer = int(timer)
	return e, e.watch(syscall.EPOLL_CTL_ADD, e.timer, syscall.EPOLLIN)
}

func (e *engine) watch(operation, fd int, events uint32) error {
	return syscall.EpollCtl(e.poll, operation, fd, &syscall.EpollEvent{Events: events, Fd: int32(fd)})
}

func (e *engine) paced() bool { return e.to > 0 }

// run sends everything, and waits for the last answer; how long it took.
func (e *engine) run() (float64, error) {
	e.began = time.Now()
	events := make([]syscall.EpollEvent, 128)
	for {
		if err := e.send(); err != nil {
			return 0, err
		}
		if e.next >= e.count && e.busy == 0 && len(e.waiting) == 0 {
			return time.Since(e.began).Seconds(), nil
		}
		ready, err := syscall.EpollWait(e.poll, events, sweepMillis)
		if err != nil && err != syscall.EINTR {
			return 0, err
		}
		for _, event := range events[:max(ready, 0)] {
			if one := e.conns[int(event.Fd)]; one != nil {
				e.advance(one)
			}
		}
		if ready == 0 {
			e.sweep()
		}
	}
}

// send takes what is due, and sets the timer for what is next.
func (e *engine) send() error {
	if !e.paced() {
		if time.Since(e.began).Seconds() >= e.seconds {
			e.count = e.next
		}
		for e.busy < e.connections && e.next < e.count {
			e.begin(ticket{e.next, time.Since(e.began)})
			e.next++
		}
		return nil
	}
	for e.next < e.count {
		due := e.moment(e.next)
		if wait := due - time.Since(e.began); wait > 0 {
			return e.arm(wait)
		}
		e.begin(ticket{e.next, due})
		e.next++
	}
	return e.arm(0)
}

// arm sets the timer anew, which also takes back an expiry that was not read; a wait of 0 stops it.
func (e *engine) arm(wait time.Duration) error {
	// The interval, then the time of the first expiry.
	setting := [2]syscall.Timespec{{}, syscall.NsecToTimespec(int64(wait))}
	_, _, number := syscall.RawSyscall6(syscall.SYS_TIMERFD_SETTIME, uintptr(e.timer), 0, uintptr(unsafe.Pointer(&setting)), 0, 0, 0)
	if number != 0 {
		return number
	}
	return nil
}

// begin sends a ticket over an idle connection or a new one; where there are enough, it waits for one.
func (e *engine) begin(t ticket) {
	if last := len(e.idle) - 1; last >= 0 {
		one := e.idle[last]
		e.idle = e.idle[:last]
		e.busy++
		one.start(e.shots[t.number%len(e.shots)], t.due, time.Since(e.began))
		e.advance(one)
		return
	}
	if e.busy >= e.connections {
		e.waiting = append(e.waiting, t)
		return
	}
	e.busy++
	shot := e.shots[t.number%len(e.shots)]
	one, err := dial(&e.peer)
	if err == nil {
		e.conns[one.fd] = one
		err = e.watch(syscall.EPOLL_CTL_ADD, one.fd, syscall.EPOLLIN)
	}
	if err != nil {
		e.fail(shot, t.due, err)
		return
	}
	one.start(shot, t.due, time.Since(e.began))
	e.advance(one)
}

// advance does what the connection's socket allows.
func (e *engine) advance(one *conn) {
	if one.shot == nil {
		// It says nothing that was asked for: it was closed while it was idle.
		e.drop(one)
		return
	}
	got, done, err := one.step()
	if err != nil {
		e.drop(one)
		e.fail(one.shot, one.due, err)
		return
	}
	if pending := len(one.out) > 0; pending != one.awaitsRoom {
		one.awaitsRoom = pending
		events := uint32(syscall.EPOLLIN)
		if pending {
			events |= syscall.EPOLLOUT
		}
		if err := e.watch(syscall.EPOLL_CTL_MOD, one.fd, events); err != nil {
			e.drop(one)
			e.fail(one.shot, one.due, err)
			return
		}
	}
	if !done {
		return
	}
	shot := one.shot
	e.outcome.latencies = append(e.outcome.latencies, int64(time.Since(e.began)-one.due))
	if problem := judge(shot, got); problem != "" {
		e.outcome.fail(problem, fmt.Sprintf("%s %s: %d %.200s in place of %d %.200s", shot.Method, shot.Target, got.status, got.body, shot.Status, shot.JSON))
	}
	e.busy--
	if got.closes {
		e.drop(one)
	} else {
		one.shot = nil
		e.idle = append(e.idle, one)
	}
	e.takeWaiting()
}

func (e *engine) fail(shot *ammo.Shot, due time.Duration, err error) {
	e.busy--
	e.outcome.latencies = append(e.outcome.latencies, int64(time.Since(e.began)-due))
	e.outcome.fail("connection", fmt.Sprintf("%s %s: %v", shot.Method, shot.Target, err))
	e.takeWaiting()
}

func (e *engine) takeWaiting() {
	if len(e.waiting) > 0 {
		first := e.waiting[0]
		e.waiting = e.waiting[1:]
		e.begin(first)
	}
}

func (e *engine) drop(one *conn) {
	delete(e.conns, one.fd)
	syscall.Close(one.fd)
	for i, other := range e.idle {
		if other == one {
			e.idle = append(e.idle[:i], e.idle[i+1:]...)
			break
		}
	}
}

// sweep ends what has waited too long.
func (e *engine) sweep() {
	for _, one := range e.conns {
		if one.shot != nil && time.Since(e.began)-one.begun > patience {
			e.drop(one)
			e.fail(one.shot, one.due, fmt.Errorf("no answer within %v", patience))
		}
	}
}
