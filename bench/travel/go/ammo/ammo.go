// Package ammo reads requests ("<bytes> <tag>\n<raw request>") and their answers ("METHOD\tURL\tSTATUS[\tJSON]").
package ammo

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// Shot is one request and, where they are known, its status and its JSON value.
type Shot struct {
	Raw            []byte
	Method, Target string
	Body           []byte
	Status         int
	JSON           []byte
}

// Read reads a file of requests.
func Read(path string) ([]*Shot, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	in := bufio.NewReaderSize(file, 1<<20)
	var shots []*Shot
	for {
		line, err := in.ReadString('\n')
		if err == io.EOF && line == "" {
			return shots, nil
		}
		if line == "\n" || line == "\r\n" {
			continue
		}
		count, _, _ := strings.Cut(line, " ")
		length, err := strconv.Atoi(count)
		if err != nil {
			return nil, fmt.Errorf("%s: request %d: %q is no length", path, len(shots)+1, count)
		}
		raw := make([]byte, length)
		if _, err := io.ReadFull(in, raw); err != nil {
			return nil, fmt.Errorf("%s: request %d: %w", path, len(shots)+1, err)
		}
		shot, err := parse(raw)
		if err != nil {
			return nil, fmt.Errorf("%s: request %d: %w", path, len(shots)+1, err)
		}
		shots = append(shots, shot)
	}
}

func parse(raw []byte) (*Shot, error) {
	head, body, found := bytes.Cut(raw, []byte("\r\n\r\n"))
	line, _, _ := strings.Cut(string(head), "\r\n")
	words := strings.Split(line, " ")
	if !found || len(words) != 3 {
		return nil, fmt.Errorf("%.60q is no request", raw)
	}
	return &Shot{Raw: raw, Method: words[0], Target: words[1], Body: body}, nil
}

// Answers reads what the shots are to be answered.
func Answers(path string, shots []*Shot) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	in := bufio.NewReaderSize(file, 1<<20)
	for i, shot := range shots {
		line, err := in.ReadString('\n')
		if err != nil && (err != io.EOF || line == "") {
			return fmt.Errorf("%s: no answer to request %d", path, i+1)
		}
		words := strings.SplitN(strings.TrimRight(line, "\r\n"), "\t", 4)
		if len(words) < 3 || words[0] != shot.Method || words[1] != shot.Target {
			return fmt.Errorf("%s: line %d is not about %s %s", path, i+1, shot.Method, shot.Target)
		}
		if shot.Status, err = strconv.Atoi(words[2]); err != nil {
			return fmt.Errorf("%s: line %d: %w", path, i+1, err)
		}
		if len(words) == 4 {
			shot.JSON = []byte(words[3])
		}
	}
	return nil
}
