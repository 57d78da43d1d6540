// Writes the right answers to requests, in their order, as the Go implementation gives them without HTTP: beside each
// NAME.ammo a NAME.answ in the directory given last. POSTs change the data for the files after them.
// usage: answers DATA AMMO... DIRECTORY
package main

import (
	"bufio"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/valyala/fasthttp"

	"apus-bench/travel/ammo"
	"apus-bench/travel/travel"
)

func main() {
	if len(os.Args) < 4 {
		log.Fatal("usage: answers DATA AMMO... DIRECTORY")
	}
	store, err := travel.Load(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	last := len(os.Args) - 1
	for _, path := range os.Args[2:last] {
		name := strings.TrimSuffix(filepath.Base(path), ".ammo") + ".answ"
		if err := write(store, path, filepath.Join(os.Args[last], name)); err != nil {
			log.Fatal(err)
		}
	}
}

func write(store *travel.Store, from, to string) error {
	shots, err := ammo.Read(from)
	if err != nil {
		return err
	}
	file, err := os.Create(to)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(file, 1<<20)
	for _, shot := range shots {
		path, text, _ := strings.Cut(shot.Target, "?")
		var query fasthttp.Args
		query.Parse(text)
		status, body := store.Handle(nil, []byte(shot.Method), []byte(path), &query, shot.Body)
		fmt.Fprintf(out, "%s\t%s\t%d", shot.Method, shot.Target, status)
		if status == fasthttp.StatusOK {
			fmt.Fprintf(out, "\t%s", body)
		}
		fmt.Fprintln(out)
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return file.Close()
}
