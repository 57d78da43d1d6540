// The API on net/http with one of three routers: api chi|gin|gorilla PORT EVENTS SOCKET USER PASSWORD DATABASE.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"

	"github.com/gin-gonic/gin"
	"github.com/go-chi/chi/v5"
	"github.com/gorilla/mux"
)

func main() {
	router, port, events := os.Args[1], os.Args[2], os.Args[3]
	store, err := open(events, os.Args[4], os.Args[5], os.Args[6], os.Args[7])
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.Serve(listener, routers[router](store)))
}

var routers = map[string]func(*store) http.Handler{
	"chi": func(s *store) http.Handler {
		r := chi.NewRouter()
		r.Get("/", ready)
		r.Post("/v1/events", s.event)
		r.Get("/v1/campaigns", s.list)
		r.Get("/v1/campaigns/{id:[0-9]+}", func(w http.ResponseWriter, r *http.Request) { s.campaign(w, r, chi.URLParam(r, "id")) })
		return r
	},
	"gin": func(s *store) http.Handler {
		gin.SetMode(gin.ReleaseMode)
		r := gin.New()
		r.GET("/", gin.WrapF(ready))
		r.POST("/v1/events", gin.WrapF(s.event))
		r.GET("/v1/campaigns", gin.WrapF(s.list))
		r.GET("/v1/campaigns/:id", func(c *gin.Context) { s.campaign(c.Writer, c.Request, c.Param("id")) })
		return r
	},
	"gorilla": func(s *store) http.Handler {
		r := mux.NewRouter()
		r.HandleFunc("/", ready).Methods("GET")
		r.HandleFunc("/v1/events", s.event).Methods("POST")
		r.HandleFunc("/v1/campaigns", s.list).Methods("GET")
		r.HandleFunc("/v1/campaigns/{id:[0-9]+}", func(w http.ResponseWriter, r *http.Request) { s.campaign(w, r, mux.Vars(r)["id"]) }).Methods("GET")
		return r
	},
}

func ready(w http.ResponseWriter, _ *http.Request) {
	answer(w, 200, map[string]bool{"ok": true})
}

func (s *store) event(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	var given map[string]any
	if err != nil || json.Unmarshal(raw, &given) != nil || given == nil {
		refuse(w, 400, "send a JSON object")
		return
	}
	event, wrong := check(given)
	if len(wrong) > 0 {
		answer(w, 422, map[string]any{"error": "the request is not valid", "fields": wrong})
		return
	}
	if err := s.append(fmt.Sprintf("%s\t%s\t%d\t%d\n", event.id, event.kind, event.campaign, event.creative)); err != nil {
		refuse(w, 503, "try again later")
		return
	}
	answer(w, 202, map[string]int{"accepted": 1})
}

func (s *store) campaign(w http.ResponseWriter, r *http.Request, text string) {
	if !s.permitted(w, r) {
		return
	}
	id, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		refuse(w, 404, "there is no such campaign")
		return
	}
	found, err := s.campaigns(s.byID, id)
	switch {
	case err != nil:
		refuse(w, 503, "try again later")
	case len(found) == 0:
		refuse(w, 404, "there is no such campaign")
	default:
		answer(w, 200, found[0])
	}
}

func (s *store) list(w http.ResponseWriter, r *http.Request) {
	if !s.permitted(w, r) {
		return
	}
	after, err := strconv.ParseUint(r.URL.Query().Get("after"), 10, 31)
	if err != nil {
		answer(w, 422, map[string]any{"error": "the request is not valid", "fields": map[string]string{"after": "must be a number"}})
		return
	}
	found, err := s.campaigns(s.after, after)
	if err != nil {
		refuse(w, 503, "try again later")
		return
	}
	answer(w, 200, map[string][]campaign{"campaigns": found})
}

func refuse(w http.ResponseWriter, status int, text string) {
	answer(w, status, map[string]string{"error": text})
}

func answer(w http.ResponseWriter, status int, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		status, text = 500, []byte(`{"error":"no JSON"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	w.Write(text)
}
