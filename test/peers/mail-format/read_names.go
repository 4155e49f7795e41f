// Prints the name of the last part of every message of a folder, as Go's standard library reads it, as JSON.
package main

import (
	"encoding/json"
	"io"
	"log"
	"mime"
	"mime/multipart"
	"net/mail"
	"os"
	"path/filepath"
)

func nameIn(path string) (name string, err error) {
	file, err := os.Open(path)
	if err != nil {
		return
	}
	defer file.Close()
	message, err := mail.ReadMessage(file)
	if err != nil {
		return
	}
	_, parameters, err := mime.ParseMediaType(message.Header.Get("Content-Type"))
	if err != nil {
		return
	}
	parts := multipart.NewReader(message.Body, parameters["boundary"])
	for {
		part, err := parts.NextPart()
		if err == io.EOF {
			return name, nil
		}
		if err != nil {
			return "", err
		}
		if _, parameters, err := mime.ParseMediaType(part.Header.Get("Content-Disposition")); err == nil {
			name = parameters["filename"]
		}
	}
}

func main() {
	names := map[string]string{}
	paths, _ := filepath.Glob(filepath.Join(os.Args[1], "*.eml"))
	for _, path := range paths {
		name, err := nameIn(path)
		if err != nil {
			log.Fatal(path, ": ", err)
		}
		names[filepath.Base(path)] = name
	}
	if err := json.NewEncoder(os.Stdout).Encode(names); err != nil {
		log.Fatal(err)
	}
}
