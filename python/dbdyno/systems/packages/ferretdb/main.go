// Command ferretdb runs FerretDB, whose own command cannot be installed as a Go module, as a private server of dbdyno.
//
// Its configuration comes as JSON on standard input, so that a password in a URL is in no file and no process list. It serves
// until SIGTERM or SIGINT.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/FerretDB/FerretDB/ferretdb"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run() error {
	var config ferretdb.Config
	if err := json.NewDecoder(os.Stdin).Decode(&config); err != nil {
		return fmt.Errorf("the configuration on standard input: %w", err)
	}
	server, err := ferretdb.New(&config)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	return server.Run(ctx)
}
