// The load of the travel bench: requests at a growing rate, sent when their time has come however slow the answers are, or
// as fast as they are answered; every answer is compared with the right one. One epoll instance a thread and nothing
// between, so that little is added to what the server takes. Prints one JSON object.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"syscall"
	"time"

	"apus-bench/travel/ammo"
)

type options struct {
	address     string
	connections int
	from, to    float64
	seconds     float64
}

func main() {
	var o options
	flag.StringVar(&o.address, "address", "127.0.0.1:8080", "of the server: an IPv4 address and a port")
	flag.IntVar(&o.connections, "connections", 64, "at most so many requests at once")
	flag.Float64Var(&o.from, "from", 1, "requests a second in the beginning")
	flag.Float64Var(&o.to, "to", 200, "requests a second in the end; 0: as fast as they are answered")
	flag.Float64Var(&o.seconds, "seconds", 30, "how long")
	requests := flag.String("ammo", "", "file of requests")
	answers := flag.String("answers", "", "file of their answers")
	threads := flag.Int("threads", 1, "that share the connections, where the answers set the pace")
	once := flag.Bool("once", false, "each request once, in their order; else they are begun again")
	flag.Parse()
	if o.to > 0 || *threads < 1 {
		*threads = 1
	}
	o.connections = max(1, o.connections / *threads)
	engines := make([]*engine, *threads)
	for i := range engines {
		// Each has requests of its own: it notes in them what was found to be right.
		shots, err := read(*requests, *answers)
		if err == nil {
			engines[i], err = newEngine(o, shots, o.count(len(shots), *once))
		}
		if err != nil {
			log.Fatal(err)
		}
	}
	// What was read stays; the rest is little.
	debug.SetGCPercent(400)
	cpu := cpuNanoseconds()
	seconds := runAll(engines)
	all := engines[0].outcome
	for _, other := range engines[1:] {
		all.add(&other.outcome)
	}
	report := all.summary(seconds)
	report["client_cpu_ns"] = cpuNanoseconds() - cpu
	if err := json.NewEncoder(os.Stdout).Encode(report); err != nil {
		log.Fatal(err)
	}
}

func read(requests, answers string) ([]*ammo.Shot, error) {
	shots, err := ammo.Read(requests)
	if err == nil {
		err = ammo.Answers(answers, shots)
	}
	if err == nil && len(shots) == 0 {
		err = fmt.Errorf("%s holds no request", requests)
	}
	return shots, err
}

// runAll gives each engine a thread; how long the last one took.
func runAll(engines []*engine) float64 {
	var group sync.WaitGroup
	took := make([]float64, len(engines))
	for i, one := range engines {
		group.Go(func() {
			runtime.LockOSThread()
			seconds, err := one.run()
			if err != nil {
				log.Fatal(err)
			}
			took[i] = seconds
		})
	}
	group.Wait()
	return slices.Max(took)
}

// count is how many requests there are; where the answers set the pace the clock alone ends the run.
func (o options) count(shots int, once bool) int {
	if o.to <= 0 {
		return math.MaxInt
	}
	count := int((o.from + o.to) / 2 * o.seconds)
	if once && count > shots {
		count = shots
	}
	return count
}

// moment is when a request is due: the rate grows evenly, so its integral is a parabola.
func (o options) moment(number int) time.Duration {
	n, growth := float64(number), (o.to-o.from)/o.seconds
	seconds := n / o.from
	if math.Abs(growth) > 1e-9 {
		seconds = (math.Sqrt(o.from*o.from+2*growth*n) - o.from) / growth
	}
	return time.Duration(seconds * float64(time.Second))
}

func cpuNanoseconds() int64 {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return usage.Utime.Nano() + usage.Stime.Nano()
}
