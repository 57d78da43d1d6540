package main

import (
	"crypto/sha256"
	"database/sql"
	"math"
	"net/http"
	"os"
	"regexp"
	"strings"

	_ "github.com/go-sql-driver/mysql"
)

// As many as the pools of the others have.
const connections = 8

type store struct {
	events           *os.File
	key, byID, after *sql.Stmt
}

type campaign struct {
	ID          int    `json:"id"`
	Advertiser  int    `json:"advertiser"`
	Name        string `json:"name"`
	State       string `json:"state"`
	BudgetCents int    `json:"budget_cents"`
}

func open(events, socket, user, password, database string) (*store, error) {
	file, err := os.OpenFile(events, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("mysql", user+":"+password+"@unix("+socket+")/"+database)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	s := &store{events: file}
	for into, text := range map[**sql.Stmt]string{
		&s.key:   "SELECT client FROM api_key WHERE hash = ?",
		&s.byID:  "SELECT id, advertiser, name, state, budget_cents FROM campaign WHERE id = ?",
		&s.after: "SELECT id, advertiser, name, state, budget_cents FROM campaign WHERE id > ? ORDER BY id LIMIT 50",
	} {
		if *into, err = db.Prepare(text); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// One write for each event: the file is opened for appending.
func (s *store) append(line string) error {
	_, err := s.events.WriteString(line)
	return err
}

func (s *store) permitted(w http.ResponseWriter, r *http.Request) bool {
	key, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	var client int
	hash := sha256.Sum256([]byte(key))
	if !found {
		refuse(w, 401, "there is no such key")
		return false
	}
	switch err := s.key.QueryRow(hash[:]).Scan(&client); err {
	case nil:
		return true
	case sql.ErrNoRows:
		refuse(w, 401, "there is no such key")
	default:
		refuse(w, 503, "try again later")
	}
	return false
}

func (s *store) campaigns(statement *sql.Stmt, number uint64) ([]campaign, error) {
	rows, err := statement.Query(number)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	found := []campaign{}
	for rows.Next() {
		var one campaign
		if err := rows.Scan(&one.ID, &one.Advertiser, &one.Name, &one.State, &one.BudgetCents); err != nil {
			return nil, err
		}
		found = append(found, one)
	}
	return found, rows.Err()
}

type event struct {
	id, kind           string
	campaign, creative uint32
}

var uuid = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// What is wrong, by field.
func check(given map[string]any) (event, map[string]string) {
	wrong := map[string]string{}
	id, _ := given["id"].(string)
	if !uuid.MatchString(id) {
		wrong["id"] = "must be a UUID"
	}
	kind, _ := given["kind"].(string)
	if kind != "impression" && kind != "click" {
		wrong["kind"] = "must be one of impression, click"
	}
	made := event{id: id, kind: kind}
	for field, into := range map[string]*uint32{"campaign": &made.campaign, "creative": &made.creative} {
		value, ok := given[field].(float64)
		if !ok || value < 1 || value > math.MaxUint32 || value != math.Trunc(value) {
			wrong[field] = "must be a number above 0"
		}
		*into = uint32(value)
	}
	for field := range given {
		switch field {
		case "id", "kind", "campaign", "creative":
		default:
			wrong[field] = "is not known"
		}
	}
	return made, wrong
}
