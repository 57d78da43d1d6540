// Package pair lets several processes serve one port, and gives a broadcast of one to the others.
package pair

import (
	"bufio"
	"io"
	"log"
	"net"
	"os"
	"os/exec"
	"strconv"
	"sync"
)

const childMark = "BENCH_WS_CHILD"

// Relay carries lines between the processes: through the first one, over standard input and output.
type Relay struct {
	mutex sync.Mutex
	peers []io.Writer
}

// Listen binds the port in the first process and starts the others, which inherit it.
// deliver gets the broadcasts of other processes.
func Listen(port string, workers string, deliver func([]byte)) (net.Listener, *Relay) {
	relay := &Relay{}
	if os.Getenv(childMark) != "" {
		listener, err := net.FileListener(os.NewFile(3, "listener"))
		if err != nil {
			log.Fatal(err)
		}
		relay.peers = []io.Writer{os.Stdout}
		go relay.receive(os.Stdin, 0, deliver)
		return listener, relay
	}
	listener, err := net.Listen("tcp4", "127.0.0.1:"+port)
	if err != nil {
		log.Fatal(err)
	}
	count, err := strconv.Atoi(workers)
	if err != nil {
		log.Fatal(err)
	}
	for range count - 1 {
		relay.start(listener.(*net.TCPListener), deliver)
	}
	return listener, relay
}

func (relay *Relay) start(listener *net.TCPListener, deliver func([]byte)) {
	file, err := listener.File()
	if err != nil {
		log.Fatal(err)
	}
	child := exec.Command(os.Args[0], os.Args[1:]...)
	child.Env = append(os.Environ(), childMark+"=1")
	child.ExtraFiles = []*os.File{file}
	child.Stderr = os.Stderr
	input, err := child.StdinPipe()
	if err != nil {
		log.Fatal(err)
	}
	output, err := child.StdoutPipe()
	if err != nil {
		log.Fatal(err)
	}
	if err := child.Start(); err != nil {
		log.Fatal(err)
	}
	relay.peers = append(relay.peers, input)
	go relay.receive(output, len(relay.peers)-1, deliver)
}

// Tell gives a broadcast to the other processes; except is the one it came from, or -1.
func (relay *Relay) Tell(text []byte, except int) {
	relay.mutex.Lock()
	defer relay.mutex.Unlock()
	line := append(append([]byte{}, text...), '\n')
	for index, peer := range relay.peers {
		if index != except {
			if _, err := peer.Write(line); err != nil {
				log.Print(err)
			}
		}
	}
}

func (relay *Relay) receive(lines io.Reader, from int, deliver func([]byte)) {
	scanner := bufio.NewScanner(lines)
	for scanner.Scan() {
		deliver(scanner.Bytes())
		if os.Getenv(childMark) == "" {
			relay.Tell(scanner.Bytes(), from)
		}
	}
	// A process without the first one is of no use.
	if os.Getenv(childMark) != "" {
		os.Exit(0)
	}
}

// IsBroadcast tells whether a text message is for everybody.
func IsBroadcast(text []byte) bool {
	return len(text) > 1 && text[0] == 'b' && text[1] == ':'
}
