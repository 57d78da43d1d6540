// usage: coro CASE N: does the work of one case and prints its cost as one line of JSON. The cases are those of
// ../../_php/cases.php.in, in Go's own words.
package main

import (
	"encoding/json"
	"os"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// As many goroutines of create at a time: they run when the one that made them waits.
const batch = 1_000

const crowd = 10_000

func cpu() float64 {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		panic(err)
	}
	return float64(use.Utime.Nano()+use.Stime.Nano()) / 1e9
}

func resident() int {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		panic(err)
	}
	for _, line := range strings.Split(string(status), "\n") {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "VmRSS:" {
			kib, err := strconv.Atoi(fields[1])
			if err != nil {
				panic(err)
			}
			return kib
		}
	}
	panic("no VmRSS")
}

func create(n int) {
	var all sync.WaitGroup
	for done := 0; done < n; done += batch {
		all.Add(batch)
		for i := 0; i < batch; i++ {
			go all.Done()
		}
		all.Wait()
	}
}

func wait(n int) {
	gate, done := make(chan bool), make(chan bool)
	for i := 0; i < n; i++ {
		go func() {
			<-gate
			done <- true
		}()
		gate <- true
		<-done
	}
}

func burst(n int) {
	for done := 0; done < n; done += crowd {
		var all sync.WaitGroup
		all.Add(crowd)
		gate := make(chan bool)
		for i := 0; i < crowd; i++ {
			go func() {
				<-gate
				all.Done()
			}()
		}
		for i := 0; i < crowd; i++ {
			gate <- true
		}
		all.Wait()
	}
}

func pair(n int) {
	more, done := true, make(chan bool)
	go func() {
		for more {
			runtime.Gosched()
		}
		done <- true
	}()
	for i := 0; i < n; i++ {
		runtime.Gosched()
	}
	more = false
	<-done
}

func pingpong(n int) {
	ping, pong := make(chan int, 1), make(chan int, 1)
	go func() {
		for i := 0; i < n; i++ {
			pong <- <-ping
		}
	}()
	for i := 0; i < n; i++ {
		ping <- i
		if <-pong != i {
			panic("the wrong answer")
		}
	}
}

func stream(n int) {
	items := make(chan int, 100)
	go func() {
		for i := 0; i < n; i++ {
			items <- i
		}
	}()
	for i := 0; i < n; i++ {
		if <-items != i {
			panic("the wrong item")
		}
	}
}

func nap(n, least, spread int) []float64 {
	late := make(chan float64, n)
	var all sync.WaitGroup
	for i := 0; i < crowd; i++ {
		all.Add(1)
		go func(i int) {
			for round := 0; round < n/crowd; round++ {
				pause := time.Duration((i*7+round*13)%spread+least) * time.Millisecond
				due := time.Now().Add(pause)
				time.Sleep(pause)
				late <- float64(time.Since(due)) / 1e6
			}
			all.Done()
		}(i)
	}
	all.Wait()
	close(late)
	var given []float64
	for one := range late {
		given = append(given, one)
	}
	return given
}

func memory(n int) float64 {
	before := resident()
	for i := 0; i < n; i++ {
		go time.Sleep(500 * time.Millisecond)
	}
	time.Sleep(100 * time.Millisecond)
	return float64(resident()-before) * 1024 / float64(n)
}

func main() {
	n, err := strconv.Atoi(os.Args[2])
	if err != nil {
		panic(err)
	}
	figures := map[string]any{"ops": n}
	began, before := time.Now(), cpu()
	switch os.Args[1] {
	case "create":
		create(n)
	case "wait":
		wait(n)
	case "burst":
		burst(n)
	case "pair":
		pair(n)
	case "pingpong":
		pingpong(n)
	case "stream":
		stream(n)
	case "sleeps", "late":
		least, spread := 1, 50
		if os.Args[1] == "late" {
			least, spread = 100, 401
		}
		late := nap(n, least, spread)
		sort.Float64s(late)
		figures["late_p50_ms"], figures["late_p99_ms"] = late[len(late)/2], late[len(late)*99/100]
		figures["late_min_ms"], figures["late_max_ms"] = late[0], late[len(late)-1]
	case "memory":
		figures["bytes"] = memory(n)
	default:
		panic("no such case")
	}
	figures["wall_s"], figures["cpu_s"] = time.Since(began).Seconds(), cpu()-before
	if err := json.NewEncoder(os.Stdout).Encode(figures); err != nil {
		panic(err)
	}
}
