// Package series lets Prometheus' own PromQL engine evaluate expressions over series.
package series

import (
	"os"
	"testing"

	"github.com/prometheus/prometheus/promql/promqltest"
)

// $SERIES is a script as in Prometheus' own tests: series, then expressions and what they come to.
func TestSeries(t *testing.T) {
	text, err := os.ReadFile(os.Getenv("SERIES"))
	if err != nil {
		t.Fatal(err)
	}
	promqltest.RunTest(t, string(text), promqltest.NewTestEngine(t, false, 0, promqltest.DefaultMaxSamplesPerQuery))
}
