package main

import (
	"math"
	"slices"
)

// outcome is what has been seen.
type outcome struct {
	// From the time at which a request was due until its answer had been read, in nanoseconds.
	latencies []int64
	failures  map[string]int
	example   string
}

func (o *outcome) fail(problem, example string) {
	o.failures[problem]++
	if o.example == "" {
		o.example = example
	}
}

func (o *outcome) add(other *outcome) {
	o.latencies = append(o.latencies, other.latencies...)
	for problem, count := range other.failures {
		o.failures[problem] += count
	}
	if o.example == "" {
		o.example = other.example
	}
}

// summary gives times in microseconds.
func (o *outcome) summary(seconds float64) map[string]any {
	failed := 0
	for _, count := range o.failures {
		failed += count
	}
	slices.Sort(o.latencies)
	return map[string]any{
		"requests":  len(o.latencies),
		"seconds":   seconds,
		"failed":    failed,
		"failures":  o.failures,
		"example":   o.example,
		"p50_us":    quantile(o.latencies, 0.5),
		"p90_us":    quantile(o.latencies, 0.9),
		"p99_us":    quantile(o.latencies, 0.99),
		"p999_us":   quantile(o.latencies, 0.999),
		"max_us":    quantile(o.latencies, 1),
		"histogram": histogram(o.latencies),
	}
}

func quantile(sorted []int64, share float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	at := int(math.Ceil(share*float64(len(sorted)))) - 1
	return float64(sorted[max(at, 0)]) / 1e3
}

// histogram counts by upper ends of buckets, each twice the last one's; empty ones are left out.
func histogram(sorted []int64) [][2]float64 {
	var buckets [][2]float64
	at := 0
	for end := 16.0; at < len(sorted); end *= 2 {
		from := at
		for at < len(sorted) && float64(sorted[at])/1e3 <= end {
			at++
		}
		if at > from {
			buckets = append(buckets, [2]float64{end, float64(at - from)})
		}
	}
	return buckets
}
